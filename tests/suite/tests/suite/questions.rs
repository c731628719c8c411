//! Questions of tools to their clients: the same function works in both protocol versions.

use super::support::{in_time, pool_of};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tool_runtime::hook::{After, AfterCall, Hook, HookCall};
use tool_runtime::peer::{Answer, SamplingRequest};
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Question, Reply, TestClient};

pub(super) const VERSIONS: [ProtocolVersion; 2] =
    [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

/// A client whose user always gives the same reply.
pub(super) async fn answering(
    pool: &ToolPool,
    version: ProtocolVersion,
    reply: Reply,
) -> TestClient {
    let answer = move |_| std::future::ready(reply.clone());
    TestClient::builder(pool).protocol_version(version).answer(answer).connect().await
}

/// Number of `tools/call` requests in the transcript.
pub(super) fn calls(client: &TestClient) -> usize {
    let lines = client.transcript();
    lines.iter().filter(|l| l.starts_with("-> ") && l.contains(r#""tools/call""#)).count()
}

/// Delete a file after confirmation.
#[tool(register = false)]
async fn delete(
    /// The file.
    path: String,
    context: &ToolContext,
) -> Result<String, ToolError> {
    Ok(match context.ask::<bool>("sure", format!("Delete {path}?")).await? {
        Answer::Accepted(true) => format!("{path} is deleted"),
        Answer::Accepted(false) => "not deleted".to_owned(),
        Answer::Declined => "declined".to_owned(),
        Answer::Cancelled => "cancelled".to_owned(),
    })
}

async fn deleted(version: ProtocolVersion, reply: Reply) -> Observation {
    let client = answering(&pool_of::<DeleteAction>(), version, reply).await;
    let result = client.call("delete", json!({ "path": "a" })).await.expect("a result");
    client.close().await;
    result
}

/// More than the number of concurrent clients.
#[tokio::test]
async fn many_calls_ask_concurrently() {
    let reply = Reply::accept(json!({ "sure": true }));
    let client = TestClient::builder(&pool_of::<DeleteAction>())
        .protocol_version(ProtocolVersion::V2025_11_25)
        .answer(move |_| std::future::ready(reply.clone()))
        .answer_timeout(Duration::from_secs(120))
        .connect()
        .await;
    let calls = (0..1000).map(|n| {
        let call = client.call("delete", json!({ "path": n.to_string() }));
        async move { (n, call.await) }
    });
    for (n, result) in join_all(calls).await {
        assert_eq!(result.expect("a result").to_text(), format!("{n} is deleted"));
    }
    client.close().await;
}

#[tokio::test]
async fn every_reply_of_the_user_has_a_value() {
    for version in VERSIONS {
        for (reply, text) in [
            (Reply::accept(json!({ "sure": true })), "a is deleted"),
            (Reply::accept(json!({ "sure": false })), "not deleted"),
            (Reply::decline(), "declined"),
            (Reply::cancel(), "cancelled"),
        ] {
            let result = deleted(version, reply).await;
            assert!(!result.is_error(), "{result:?}");
            assert_eq!(result.to_text(), text, "{version:?}");
        }
    }
}

#[tokio::test]
async fn an_invalid_answer_is_an_error_that_names_the_question() {
    for version in VERSIONS {
        for reply in [
            Reply::accept(json!({ "sure": "perhaps" })),
            Reply::accept(()),
            Reply::result(json!({ "action": "accept", "content": [] })),
            Reply::result(json!({ "action": "shrug" })),
        ] {
            let result = deleted(version, reply.clone()).await;
            assert!(result.is_error(), "{version:?} {reply:?}");
            assert!(result.to_text().contains("`sure` is not usable"), "{}", result.to_text());
        }
    }
}

#[tokio::test]
async fn a_client_without_forms_is_not_asked() {
    let pool = pool_of::<DeleteAction>();
    for (capabilities, required) in
        [json!({}), json!({ "elicitation": { "url": {} } })].map(|c| (c, json!({ "form": {} })))
    {
        let builder = || TestClient::builder(&pool).capabilities(capabilities.clone());
        let stateless = builder().connect().await;
        let error = stateless.call("delete", json!({ "path": "a" })).await.expect_err("rejected");
        assert_eq!(error.code(), -32021);
        let required = json!({ "requiredCapabilities": { "elicitation": required } });
        assert_eq!(error.data(), Some(&required));
        let stateful = builder().protocol_version(ProtocolVersion::V2025_11_25).connect().await;
        let result = stateful.call("delete", json!({ "path": "a" })).await.expect("a result");
        assert!(result.is_error());
        assert!(result.to_text().contains("cannot ask its user"), "{}", result.to_text());
        assert!(stateless.questions().is_empty() && stateful.questions().is_empty());
    }
}

#[tokio::test]
async fn a_client_without_named_modes_supports_forms() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<DeleteAction>())
            .protocol_version(version)
            .capabilities(json!({ "elicitation": {} }))
            .connect()
            .await;
        let result = client.call("delete", json!({ "path": "a" })).await.expect("a result");
        assert_eq!(result.to_text(), "declined");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema, Form)]
struct Guest {
    /// The name of the guest.
    name: String,
    /// The number of companions.
    #[serde(default)]
    others: u8,
}

struct Booked(AtomicUsize);

/// Book a table, after some questions.
#[tool(register = false)]
async fn book(context: &ToolContext, booked: &Booked) -> Result<String, ToolError> {
    let Some(guest) = context.ask::<Guest>("guest", "Who comes?").await?.accepted() else {
        return Ok("no guest".to_owned());
    };
    let hour = context.ask::<u8>("hour", format!("When, {}?", guest.name)).await?.accepted();
    let sure = context.ask::<bool>("sure", "Really?").await?.accepted();
    let count = booked.0.fetch_add(1, Ordering::SeqCst) + 1;
    Ok(format!("{} and {} at {hour:?}, {sure:?}, {count}", guest.name, guest.others))
}

async fn as_ada(question: Question) -> Reply {
    match question.message() {
        "Who comes?" => Reply::accept(json!({ "name": "Ada", "others": 2 })),
        "When, Ada?" => Reply::accept(json!({ "hour": 19 })),
        _ => Reply::accept(json!({ "sure": true })),
    }
}

#[tokio::test]
async fn effects_after_the_last_of_several_questions_happen_once() {
    let pool = ToolPool::builder().tool::<BookAction>().state(Booked(AtomicUsize::new(0))).build();
    let pool = pool.expect("a pool");
    for (nth, version) in (1..).zip(VERSIONS) {
        let client =
            TestClient::builder(&pool).protocol_version(version).answer(as_ada).connect().await;
        let result = client.call("book", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), format!("Ada and 2 at Some(19), Some(true), {nth}"));
        let messages: Vec<_> = client.questions().iter().map(|q| q.message().to_owned()).collect();
        assert_eq!(messages, ["Who comes?", "When, Ada?", "Really?"]);
        assert_eq!(calls(&client), if version == ProtocolVersion::V2026_07_28 { 4 } else { 1 });
        client.close().await;
    }
}

/// Ask two things together.
#[tool(register = false)]
async fn ask_both(context: &ToolContext) -> Result<String, ToolError> {
    let (left, right) = futures_util::join!(
        context.ask::<String>("left", "Left?"),
        context.ask::<String>("right", "Right?")
    );
    Ok(format!("{:?} {:?}", left?.accepted(), right?.accepted()))
}

#[tokio::test]
async fn concurrent_questions_reach_the_client_together() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<AskBothAction>())
            .protocol_version(version)
            .answer(|question: Question| async move {
                let field = question.message().trim_end_matches('?').to_lowercase();
                Reply::accept(json!({ field.as_str(): field.to_uppercase() }))
            })
            .connect()
            .await;
        let result = client.call("ask_both", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), r#"Some("LEFT") Some("RIGHT")"#);
        assert_eq!(calls(&client), if version == ProtocolVersion::V2026_07_28 { 2 } else { 1 });
    }
}

/// Sign in on a page.
#[tool(register = false)]
async fn sign_in(context: &ToolContext) -> Result<String, ToolError> {
    let answer = context.ask_url("login", "Sign in, please.", "https://example.com/login").await?;
    Ok(format!("{answer:?}"))
}

#[tokio::test]
async fn the_user_is_sent_to_a_page() {
    for version in VERSIONS {
        let pool = pool_of::<SignInAction>();
        let client = answering(&pool, version, Reply::accept(())).await;
        let result = client.call("sign_in", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "Accepted(())");
        let params = client.questions()[0].params().clone();
        assert_eq!(params["mode"], "url");
        assert_eq!(params["url"], "https://example.com/login");
        assert_eq!(params["message"], "Sign in, please.");
        assert!(params["elicitationId"].is_string());
        let forms_only = TestClient::builder(&pool)
            .protocol_version(version)
            .capabilities(json!({ "elicitation": { "form": {} } }))
            .connect()
            .await;
        match forms_only.call("sign_in", json!({})).await {
            Ok(result) => assert!(result.is_error() && version == ProtocolVersion::V2025_11_25),
            Err(error) => assert_eq!(error.code(), -32021),
        }
    }
}

/// Request the roots of the client, then a message of its model.
#[tool(register = false)]
async fn ask_model(context: &ToolContext) -> Result<String, ToolError> {
    let roots = context.roots("where").await?;
    let request = SamplingRequest::new(50).user(format!("What is in {}?", roots[0].uri));
    let sample = context.sample("what", request.set("temperature", 0.5)).await?;
    Ok(format!("{} says {}", sample.model, sample.text()))
}

#[tokio::test]
async fn a_tool_requests_sampling_and_roots() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<AskModelAction>())
            .protocol_version(version)
            .answer(|question: Question| async move {
                match question.method() {
                    "roots/list" => Reply::roots(["file:///work"]),
                    _ => Reply::text("a file"),
                }
            })
            .connect()
            .await;
        let result = client.call("ask_model", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "test-model says a file");
        let sampled = client.questions()[1].params().clone();
        assert_eq!(sampled["maxTokens"], 50);
        assert_eq!(sampled["temperature"], 0.5);
        let text = &sampled["messages"][0]["content"]["text"];
        assert_eq!(text, "What is in file:///work?");
        client.close().await;
    }
}

#[tokio::test]
async fn a_model_that_is_rejected_is_an_error_for_the_caller() {
    // Sampling is declined: the client of 2025-11-25 answers with an error.
    let client = TestClient::builder(&pool_of::<AskModelAction>())
        .protocol_version(ProtocolVersion::V2025_11_25)
        .answer(|question: Question| async move {
            match question.method() {
                "roots/list" => Reply::roots(["file:///work"]),
                _ => Reply::error(tool_runtime::error::ProtocolError::new(-1, "no, thanks")),
            }
        })
        .connect()
        .await;
    let result = client.call("ask_model", json!({})).await.expect("a result");
    assert!(result.is_error());
    assert!(result.to_text().contains("no, thanks"), "{}", result.to_text());
}

/// Sends a message when dropped.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// Ask, and report the end of the call.
#[tool(register = false)]
async fn ask_guarded(
    context: &ToolContext,
    dropped: &mpsc::UnboundedSender<()>,
) -> Result<String, ToolError> {
    let _guard = Guard(dropped.clone());
    let answer = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{answer:?}"))
}

#[tokio::test]
async fn a_call_that_is_cancelled_during_a_question_is_dropped() {
    let (sender, mut dropped) = mpsc::unbounded_channel::<()>();
    let pool =
        ToolPool::builder().tool::<AskGuardedAction>().state(sender).build().expect("a pool");
    let is_asked = Arc::new(Notify::new());
    let notify = Arc::clone(&is_asked);
    let client = TestClient::builder(&pool)
        .protocol_version(ProtocolVersion::V2025_11_25)
        .answer(move |_| {
            notify.notify_one();
            std::future::pending()
        })
        .connect()
        .await;
    let call = client.call("ask_guarded", json!({})).start();
    in_time(is_asked.notified()).await;
    assert!(dropped.try_recv().is_err());
    call.cancel().await;
    in_time(dropped.recv()).await.expect("the function is dropped");
    // The question is cancelled, and the server keeps running.
    let taken_back = client.notification("notifications/cancelled").await;
    assert!(taken_back.params["requestId"].is_number(), "{taken_back:?}");
    assert_eq!(client.list_tools().await.len(), 1);
    client.close().await;
}

#[tokio::test]
async fn a_call_that_is_answered_with_a_question_is_dropped() {
    let (sender, mut dropped) = mpsc::unbounded_channel::<()>();
    let pool =
        ToolPool::builder().tool::<AskGuardedAction>().state(sender).build().expect("a pool");
    let client = TestClient::stateless(&pool).await;
    let params = json!({ "name": "ask_guarded", "arguments": {} });
    let round = client.request("tools/call", params).await.expect("questions");
    assert_eq!(round["resultType"], "input_required");
    in_time(dropped.recv()).await.expect("the function is dropped");
    client.close().await;
}

#[tokio::test]
async fn a_question_of_a_nested_call_is_not_an_error_for_hooks() {
    /// Delete by calling another tool.
    #[tool(register = false)]
    async fn delete_nested(context: &ToolContext) -> Result<String, ToolError> {
        let inner = context.call(ToolCall::json("delete", json!({ "path": "x" }))).await;
        Ok(format!("inner: {}", inner.observation().to_text()))
    }
    for version in VERSIONS {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let see = Arc::clone(&seen);
        let after = Hook::after("*", move |call: HookCall, after: AfterCall| {
            let text = format!("{}: {}", call.name(), after.observation().to_text());
            see.lock().expect("one at a time").push(text);
            async { After::keep() }
        });
        let pool = ToolPool::builder()
            .tool::<DeleteNestedAction>()
            .tool::<DeleteAction>()
            .hook(after)
            .build()
            .expect("a pool");
        let client = answering(&pool, version, Reply::accept(json!({ "sure": true }))).await;
        let result = client.call("delete_nested", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "inner: x is deleted");
        let seen = seen.lock().expect("one at a time").clone();
        assert_eq!(
            seen,
            ["delete: x is deleted", "delete_nested: inner: x is deleted"],
            "{version:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn answering_time_counts_only_while_the_call_waits() {
    /// Ask, with a time limit.
    #[tool(register = false, timeout = "1s")]
    async fn ask_with_timeout(context: &ToolContext) -> Result<String, ToolError> {
        let answer = context.ask::<bool>("sure", "Sure?").await?;
        Ok(format!("{answer:?}"))
    }
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<AskWithTimeoutAction>())
            .protocol_version(version)
            .answer(|_| async {
                tokio::time::sleep(Duration::from_secs(5)).await;
                Reply::accept(json!({ "sure": true }))
            })
            .connect()
            .await;
        let result = client.call("ask_with_timeout", json!({})).await.expect("a result");
        match version {
            ProtocolVersion::V2026_07_28 => assert_eq!(result.to_text(), "Accepted(true)"),
            ProtocolVersion::V2025_11_25 => assert!(result.is_error(), "{result:?}"),
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_call_releases_its_resources_during_a_question() {
    /// Write, after a question.
    #[tool(register = false, writes("note:{id}"))]
    async fn edit(
        /// The number of the note.
        id: String,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let text = context.ask::<String>("text", format!("What is in {id}?")).await?;
        Ok(format!("{text:?}"))
    }
    /// Write at once.
    #[tool(register = false, writes("note:{id}"))]
    async fn clear(
        /// The number of the note.
        id: String,
    ) -> String {
        id
    }
    let pool = ToolPool::builder().tool::<EditAction>().tool::<ClearAction>().build();
    let client = TestClient::stateless(&pool.expect("a pool")).await;
    let edit = json!({ "name": "edit", "arguments": { "id": "a" } });
    let round = client.request("tools/call", &edit).await.expect("a question");
    assert_eq!(round["inputRequests"]["text"]["params"]["message"], "What is in a?");
    let cleared = client.call("clear", json!({ "id": "a" })).await.expect("not held up");
    assert_eq!(cleared.to_text(), "a");
    let mut retry = edit;
    retry["requestState"] = round["requestState"].clone();
    retry["inputResponses"] = json!({ "text": { "action": "decline" } });
    let result: Value = client.request("tools/call", retry).await.expect("a result");
    assert_eq!(result["content"][0]["text"], "Declined");
}
