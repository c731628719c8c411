//! A served pool: each client lists its visible tools, and receives the reason of a denial.

use super::{Budget, Events, Paths, builder};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::Principal;
use tool_runtime::govern::{Approval, ApprovalRequest, CallView, Decision, PolicyEngine};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Question, Reply, TestClient};

fn pool(events: &Events) -> ToolPool {
    let policy = Paths { hides_writing: true, ..Paths::default() };
    builder().policy(policy).recorder(events.clone()).build().unwrap()
}

#[tokio::test]
async fn a_client_lists_and_calls_what_its_principal_may_see() {
    let events = Events::default();
    let pool = pool(&events);
    let names = async |client: &TestClient| -> Vec<String> {
        client.list_tools().await.into_iter().map(|tool| tool.name).collect()
    };
    let client = TestClient::stateless(&pool).await;
    assert_eq!(names(&client).await, ["fail", "read"]);
    let denied = client.call("write", json!({ "path": "a" })).await.unwrap();
    assert!(denied.is_error());
    assert!(denied.to_text().contains("`write` is not available to this caller"));

    let admin = Principal::new("ada").with_scopes(["admin"]);
    let admin = TestClient::builder(&pool).principal(admin).connect().await;
    assert_eq!(names(&admin).await, ["fail", "read", "write"]);
    let written = admin.call("write", json!({ "path": "a" })).await.unwrap();
    assert_eq!(written.to_text(), "wrote a");
    let secret = admin.call("read", json!({ "path": "secret" })).await.unwrap();
    let text = "the call to `read` is not allowed: `path` is secret; read another file";
    assert_eq!(secret.to_text(), text);
    assert_eq!(events.of_tool("read").last().unwrap(), "finished denied");
}

#[tokio::test]
async fn a_stateful_client_lists_the_same() {
    let client = TestClient::stateful(&pool(&Events::default())).await;
    let names: Vec<String> = client.list_tools().await.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["fail", "read"]);
}

/// Pay after two questions.
#[tool(register = false)]
async fn pay(context: &ToolContext) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?.accepted();
    let really = context.ask::<bool>("really", "Really?").await?.accepted();
    Ok(format!("{sure:?} {really:?}"))
}

/// Pay by another tool.
#[tool(register = false)]
async fn pay_by_tool(context: &ToolContext) -> String {
    context.call(ToolCall::new("pay", "")).await.observation().to_text()
}

/// A pool that requires approval of each call, and the number of questions.
struct PaymentFixture {
    events: Events,
    budget: Budget,
    asked: Arc<AtomicU32>,
}

impl PaymentFixture {
    fn new() -> Self {
        Self { events: Events::default(), budget: Budget::new(2), asked: Arc::default() }
    }

    fn pool(&self) -> ToolPool {
        struct Ask;
        impl PolicyEngine for Ask {
            fn decide(&self, _: &CallView<'_>) -> Decision {
                Decision::ask("Pay?")
            }
        }
        let questions = Arc::clone(&self.asked);
        let approver = move |_: ApprovalRequest| {
            questions.fetch_add(1, Ordering::Relaxed);
            async { Approval::approved().by("ada") }
        };
        let pool = ToolPool::builder()
            .tool::<PayAction>()
            .tool::<PayByToolAction>()
            .tool::<PayThenAskAction>();
        let pool = pool.policy(Ask).approver(approver).limiter(self.budget.clone());
        pool.recorder(self.events.clone()).build().unwrap()
    }

    async fn client(&self) -> TestClient {
        let yes = |question: Question| async move {
            let key = question.key().unwrap_or_default().rsplit('/').next().unwrap().to_owned();
            Reply::accept(json!({ key: true }))
        };
        let version = ProtocolVersion::V2026_07_28;
        TestClient::builder(&self.pool()).protocol_version(version).answer(yes).connect().await
    }
}

const ONE_CALL: [&str; 7] = [
    "proposed {}",
    "decided ask",
    "decided allow by ada",
    "started {}",
    "suspended",
    "suspended",
    "finished Some(true) Some(true), ran",
];

#[tokio::test]
async fn all_rounds_of_a_call_that_asks_are_one_call() {
    let fixture = PaymentFixture::new();
    let paid = fixture.client().await.call("pay", json!({})).await.unwrap();
    assert_eq!(paid.to_text(), "Some(true) Some(true)");
    assert_eq!(fixture.events.of_tool("pay"), ONE_CALL);
    assert_eq!((fixture.asked.load(Ordering::Relaxed), fixture.budget.left()), (1, 1));
}

#[tokio::test]
async fn all_rounds_of_a_nested_call_are_one_call() {
    let fixture = PaymentFixture::new();
    let paid = fixture.client().await.call("pay_by_tool", json!({})).await.unwrap();
    assert_eq!(paid.to_text(), "Some(true) Some(true)");
    assert_eq!(fixture.events.of_tool("pay_by_tool"), ONE_CALL);
    assert_eq!(fixture.events.of_tool("pay"), ONE_CALL);
    assert_eq!((fixture.asked.load(Ordering::Relaxed), fixture.budget.left()), (2, 0));
}

/// Pay by another tool, and ask when it is done.
#[tool(register = false)]
async fn pay_then_ask(context: &ToolContext) -> Result<String, ToolError> {
    let paid = context.call(ToolCall::new("pay", "")).await.observation().to_text();
    context.ask::<bool>("again", "Again?").await?;
    Ok(paid)
}

#[tokio::test]
async fn a_question_after_an_effect_is_rejected() {
    let fixture = PaymentFixture::new();
    let paid = fixture.client().await.call("pay_then_ask", json!({})).await.unwrap();
    assert!(paid.is_error() && paid.to_text().contains("`again` cannot be asked"), "{paid:?}");
    assert_eq!(fixture.events.of_tool("pay"), ONE_CALL, "it ran once");
}

#[tokio::test]
async fn a_round_that_is_sent_twice_is_another_call() {
    let fixture = PaymentFixture::new();
    let client = fixture.client().await;
    let call = json!({ "name": "pay", "arguments": {} });
    let first = client.request("tools/call", call.clone()).await.unwrap();
    let mut second = call;
    second["requestState"] = first["requestState"].clone();
    second["inputResponses"] =
        json!({ "sure": { "action": "accept", "content": { "sure": true } } });
    for (budget, asked) in [(1, 1), (0, 2)] {
        let result = client.request("tools/call", second.clone()).await.unwrap();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!((fixture.budget.left(), fixture.asked.load(Ordering::Relaxed)), (budget, asked));
    }
    let third = client.request("tools/call", second).await.unwrap();
    assert_eq!(third["isError"], true, "{third}");
}

/// Pay an amount after a question.
#[tool(register = false)]
async fn pay_amount(
    /// The amount.
    amount: u32,
    context: &ToolContext,
) -> Result<u32, ToolError> {
    context.ask::<bool>("sure", "Sure?").await?;
    Ok(amount)
}

/// An approval is for the arguments that it was asked about, also in a later round.
#[tokio::test]
async fn a_round_with_other_arguments_is_asked_about_again() {
    let (rounds, asked) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(Vec::new())));
    let raise = Hook::before("pay_amount", move |_: HookCall| {
        let amount = rounds.fetch_add(1, Ordering::Relaxed) + 1;
        async move { Before::rewrite(json!({ "amount": amount }).to_string()) }
    });
    let seen = Arc::clone(&asked);
    let approver = move |request: ApprovalRequest| {
        seen.lock().unwrap().push(request.arguments().to_owned());
        async { Approval::approved() }
    };
    struct Ask;
    impl PolicyEngine for Ask {
        fn decide(&self, _: &CallView<'_>) -> Decision {
            Decision::ask("Pay?")
        }
    }
    let pool = ToolPool::builder().tool::<PayAmountAction>().hook(raise).policy(Ask);
    let pool = pool.approver(approver).build().unwrap();
    let yes = |_: Question| async { Reply::accept(json!({ "sure": true })) };
    let version = ProtocolVersion::V2026_07_28;
    let client = TestClient::builder(&pool).protocol_version(version).answer(yes);
    let paid = client.connect().await.call("pay_amount", json!({ "amount": 1 })).await.unwrap();
    assert_eq!(paid.to_text(), "2");
    assert_eq!(*asked.lock().unwrap(), [r#"{"amount":1}"#, r#"{"amount":2}"#]);
}
