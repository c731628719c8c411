//! The order of the stages of a governed call, on each way in, and where each rejection leaves it.

use super::questions::VERSIONS;
use super::support::in_time;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallEvent, CallStage, CallView, Decision, Effect, Limit,
    LimitExceeded, Limiter, PolicyEngine, Receipt, Recorder, Reservation,
};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::secret::Secrets;
use tool_runtime::testing::TestClient;
use tool_runtime::{Principal, ToolPoolBuilder};

/// What has happened, a word each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, word: impl Into<String>) {
        self.0.lock().unwrap().push(word.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Work.
#[tool(register = false, task = "optional", writes("work:all"))]
async fn work(
    /// The word that decides how the call ends.
    how: String,
    log: &Log,
) -> String {
    log.note("tool");
    format!("worked {how}")
}

/// Work for people of a kind.
#[tool(register = false, scope = "work")]
async fn scoped(log: &Log) {
    log.note("tool");
}

fn how(call: &CallView<'_>) -> String {
    call.argument("how").and_then(|how| how.as_str().map(str::to_owned)).unwrap_or_default()
}

impl PolicyEngine for Log {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        self.note("policy");
        match &*how(call) {
            "denied" => Decision::deny("no"),
            "asked" | "rejected" | "edited" => Decision::ask("Sure?"),
            _ => Decision::allow(),
        }
    }
}

impl Limiter for Log {
    fn reserve(&self, call: &CallView<'_>, _: &[Limit]) -> Result<Reservation, LimitExceeded> {
        self.note("limit");
        if how(call) == "limited" {
            return Err(LimitExceeded::new("too many"));
        }
        let log = self.clone();
        Ok(Reservation::new(move || log.note("refund")))
    }
}

impl Recorder for Log {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        self.note(match event.stage {
            CallStage::Proposed => "proposed".to_owned(),
            CallStage::Decided { decision, .. } => match decision.effect() {
                Effect::Allow => "decided: allow".to_owned(),
                Effect::Ask => "decided: ask".to_owned(),
                _ => "decided: deny".to_owned(),
            },
            CallStage::Suspended => "suspended".to_owned(),
            CallStage::Started { .. } => "started".to_owned(),
            CallStage::Finished { outcome, .. } => match outcome {
                Ok(_) => "finished".to_owned(),
                Err(error) => format!("finished: {}", error.class()),
            },
            _ => "another stage".to_owned(),
        });
        Receipt::recorded()
    }
}

/// A tool that calls another one with its own argument.
fn outer() -> Tool {
    Tool::builder("outer", "Let another tool work.").handler(
        |arguments: serde_json::Map<String, Value>, context: ToolContext| async move {
            let call = ToolCall::json("work", json!({ "how": arguments["word"] }));
            context.call(call).await.observation().to_text()
        },
    )
}

fn builder(log: &Log) -> ToolPoolBuilder {
    let (before, person) = (log.clone(), log.clone());
    let before = Hook::before("work", move |call: HookCall| {
        before.note("before");
        async move {
            match call.arguments() {
                r#"{"how":"hooked"}"# => Before::deny("not now"),
                r#"{"how":"rewritten"}"# => Before::rewrite(r#"{"how":"new"}"#),
                _ => Before::proceed(),
            }
        }
    });
    let approver = move |request: ApprovalRequest| {
        person.note("person");
        let answer = match request.arguments() {
            r#"{"how":"rejected"}"# => Approval::rejected("no"),
            r#"{"how":"edited"}"# => Approval::approved().with_arguments(r#"{"how":"new"}"#),
            _ => Approval::approved(),
        };
        async { answer }
    };
    ToolPool::builder()
        .tool::<WorkAction>()
        .tool::<ScopedAction>()
        .add(outer())
        .hook(before)
        .policy(log.clone())
        .limiter(log.clone())
        .recorder(log.clone())
        .approver(approver)
        .state(log.clone())
}

fn pool(log: &Log) -> ToolPool {
    let after = log.clone();
    let after = Hook::after("work", move |_: HookCall, _: AfterCall| {
        after.note("after");
        async { After::keep() }
    });
    builder(log).hook(after).build().unwrap()
}

/// The stages of a call by how it ends, as the design lists them: policies, hooks, people, limits, the tool, hooks,
/// the record.
const STAGES: &[(&str, &str)] = &[
    ("fine", "proposed, policy, before, limit, decided: allow, started, tool, after, finished"),
    (
        "rewritten",
        "proposed, policy, before, policy, limit, decided: allow, started, tool, after, finished",
    ),
    ("denied", "proposed, policy, decided: deny, after, finished: denied"),
    ("hooked", "proposed, policy, before, decided: deny, after, finished: denied"),
    (
        "asked",
        "proposed, policy, before, decided: ask, person, policy, limit, decided: allow, started, tool, after, finished",
    ),
    (
        "edited",
        "proposed, policy, before, decided: ask, person, policy, policy, limit, decided: allow, started, tool, after, finished",
    ),
    (
        "rejected",
        "proposed, policy, before, decided: ask, person, decided: deny, after, finished: approval_rejected",
    ),
    ("limited", "proposed, policy, before, limit, decided: deny, after, finished: rate_limited"),
];

#[tokio::test]
async fn the_stages_have_one_order_on_every_way_in() {
    let log = Log::default();
    let pool = pool(&log);
    for (how, expected) in STAGES {
        let call = || ToolCall::json("work", json!({ "how": how }));
        pool.call(call()).await;
        assert_eq!(log.take().join(", "), *expected, "by name: {how}");
        pool.call_json("work", call().arguments()).await;
        assert_eq!(log.take().join(", "), *expected, "by JSON: {how}");
        let _ = WorkAction { how: (*how).to_owned() }.call(&pool).await;
        assert_eq!(log.take().join(", "), *expected, "by type: {how}");
        pool.call_all([call()]).await;
        assert_eq!(log.take().join(", "), *expected, "in a batch: {how}");
        // The outer call is governed as well: no hook concerns it.
        pool.call(ToolCall::json("outer", json!({ "word": how }))).await;
        let nested = log.take().join(", ");
        assert!(nested.contains(&format!("started, {expected}, finished")), "nested: {nested}");
    }
}

#[tokio::test]
async fn calls_over_mcp_have_the_same_order() {
    for version in VERSIONS {
        let log = Log::default();
        let pool = pool(&log);
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        for (how, expected) in STAGES {
            in_time(client.call("work", json!({ "how": how })).recorded()).await;
            assert_eq!(log.take().join(", "), *expected, "{version:?}: {how}");
        }
        client.close().await;
        let client = TestClient::builder(&pool).protocol_version(version).tasks().connect().await;
        in_time(client.call("work", json!({ "how": "asked" })).recorded()).await;
        assert_eq!(log.take().join(", "), STAGES[4].1, "a task, {version:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_call_that_is_rejected_before_its_policies_is_recorded_and_shown_to_hooks() {
    let log = Log::default();
    let pool = pool(&log);
    let context = pool.context().with_principal(Principal::new("ada"));
    for (name, arguments, expected) in [
        ("work", r#"{"how": 1}"#, "proposed, after, finished: input"),
        ("work", "{", "proposed, after, finished: input"),
        ("wrok", "{}", "proposed, finished: not_found"),
        ("scoped", "{}", "proposed, finished: denied"),
    ] {
        pool.call_with(ToolCall::new(name, arguments), &context).await;
        assert_eq!(log.take().join(", "), expected, "{name} {arguments}");
    }
    let scope = pool.scope();
    let _restriction = scope.restrict(["scoped"]).unwrap();
    scope.call(ToolCall::json("work", json!({ "how": "fine" }))).await;
    assert_eq!(log.take().join(", "), "proposed, after, finished: denied");
}

/// Calls that are called by calls without end.
#[tokio::test]
async fn a_call_that_is_nested_too_deep_is_recorded_and_shown_to_hooks() {
    let log = Log::default();
    let again = Tool::builder("again", "Call again.").handler(
        |_: serde_json::Map<String, Value>, context: ToolContext| async move {
            context.call(ToolCall::new("again", "{}")).await.observation().to_text()
        },
    );
    let after = log.clone();
    let after = Hook::after("again", move |_: HookCall, finished: AfterCall| {
        if finished.error().is_some() {
            after.note("after the rejection");
        }
        async { After::keep() }
    });
    let pool = builder(&log).add(again).hook(after).build().unwrap();
    pool.call(ToolCall::new("again", "{}")).await;
    let seen = log.take();
    let rejection = ["proposed", "after the rejection", "finished: denied"];
    assert!(seen.windows(3).any(|stages| stages == rejection), "{seen:?}");
}

/// What an after-hook puts in place of an outcome passes the mask, also of a call that was rejected.
#[tokio::test]
async fn what_hooks_say_about_a_rejected_call_is_masked() {
    let say = Hook::after("*", |_: HookCall, _: AfterCall| async {
        After::replace(Observation::text("the key is 4f9d2c7b81a6"))
    });
    let secrets = Secrets::new().with("KEY", "4f9d2c7b81a6");
    let pool = builder(&Log::default()).hook(say).secrets(secrets).build().unwrap();
    for (name, arguments) in [
        ("work", r#"{"how": "fine"}"#),
        ("work", r#"{"how": "denied"}"#),
        ("work", r#"{"how": 1}"#),
    ] {
        let text = pool.call(ToolCall::new(name, arguments)).await.observation().to_text();
        assert!(text.starts_with("the key is ") && !text.contains("4f9d2c7b"), "{name}: {text}");
    }
    let scope = pool.scope();
    let _restriction = scope.restrict(["scoped"]).unwrap();
    let rejected = scope.call(ToolCall::json("work", json!({ "how": "fine" }))).await;
    let text = rejected.observation().to_text();
    assert!(text.starts_with("the key is ") && !text.contains("4f9d2c7b"), "{text}");
}
