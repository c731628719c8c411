//! Calls that the host program executes and answers later, through pools and batches.

use super::support::in_time;
use serde_json::json;
use std::time::Duration;
use tool_runtime::prelude::*;
use tool_runtime::tool::{ClientAnswerError, ClientTools};
use tool_runtime::{CancellationToken, ToolAnnotations};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code)]
struct Pick {
    /// The text to show.
    title: String,
}

const MINUTE: Duration = Duration::from_secs(60);

/// A host and a pool with two of its tools: one reads, one writes.
fn host_pool(limit: Duration) -> (ClientTools, ToolPool) {
    let client = ClientTools::new(limit);
    let read_only = ToolAnnotations::default().with_read_only(true);
    let pick = ToolDefinition::new("pick", "Let the user pick.")
        .with_input::<Pick>()
        .with_annotations(read_only);
    let save = ToolDefinition::new("save", "Let the user save.").with_input::<Pick>();
    let pool = ToolPool::builder()
        .add(client.tool(pick))
        .add(client.tool(save))
        .add(Tool::builder("ping", "Answer at once.").read_only(true).handler(|| async { "pong" }))
        .build()
        .expect("a pool");
    (client, pool)
}

fn call(name: &str, id: &str) -> ToolCall {
    ToolCall::new(name, json!({ "title": id }).to_string()).with_call_id(id)
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.observation().to_text()).collect()
}

#[tokio::test]
async fn a_batch_accepts_answers_in_any_order() {
    let (client, pool) = host_pool(MINUTE);
    let batch = pool.call_all([call("pick", "a"), ToolCall::new("ping", ""), call("pick", "b")]);
    let host = async {
        let (first, second) = (in_time(client.next()).await, in_time(client.next()).await);
        assert_eq!((first.id(), second.id()), ("a", "b"));
        assert_eq!(first.arguments()["title"], "a");
        client.answer("b", "second").expect("accepted");
        client.answer("a", "first").expect("accepted");
    };
    let (results, ()) = tokio::join!(batch, host);
    assert_eq!(texts(&results), ["first", "pong", "second"]);
    assert!(client.pending().is_empty());
}

#[tokio::test]
async fn a_writing_call_reaches_the_host_after_earlier_calls() {
    let (client, pool) = host_pool(MINUTE);
    let batch = pool.call_all([call("pick", "a"), call("save", "b"), call("pick", "c")]);
    let host = async {
        for id in ["a", "b", "c"] {
            assert_eq!(in_time(client.next()).await.id(), id);
            assert!(client.try_next().is_none(), "{id}");
            client.answer(id, id).expect("accepted");
        }
    };
    let (results, ()) = tokio::join!(batch, host);
    assert_eq!(texts(&results), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_call_ends_at_its_deadline_without_the_rest_of_the_batch() {
    let (client, pool) = host_pool(MINUTE);
    let batch = pool.call_all([call("pick", "late"), call("pick", "quick")]);
    let host = async {
        let late = in_time(client.next()).await;
        client.answer(in_time(client.next()).await.id(), "quick").expect("accepted");
        client.cancelled(late.id()).await;
        let rejected = client.answer(late.id(), "too late").expect_err("expired");
        assert!(matches!(rejected, ClientAnswerError::Expired { .. }), "{rejected}");
    };
    let started = tokio::time::Instant::now();
    let (results, ()) = tokio::join!(batch, host);
    assert_eq!(started.elapsed(), MINUTE);
    assert_eq!(results[0].error().expect("an error").class(), ErrorClass::Timeout);
    assert_eq!(results[1].observation().to_text(), "quick");
}

#[tokio::test(start_paused = true)]
async fn a_shorter_limit_of_the_pool_does_not_apply_to_host_calls() {
    let client = ClientTools::new(MINUTE);
    let pool = ToolPool::builder()
        .add(client.tool(ToolDefinition::new("pick", "Let the user pick.")))
        .timeout(Duration::from_secs(1))
        .build()
        .expect("a pool");
    let host = async {
        let call = in_time(client.next()).await;
        tokio::time::advance(MINUTE / 2).await;
        client.answer(call.id(), "slowly").expect("in time");
    };
    let (result, ()) = tokio::join!(pool.call(ToolCall::new("pick", "")), host);
    assert_eq!(result.observation().to_text(), "slowly");
}

#[tokio::test]
async fn cancelling_a_batch_ends_every_call_and_notifies_the_host() {
    let (client, pool) = host_pool(MINUTE);
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    // The second call waits for the first and is never handed to the host.
    let calls = [call("save", "a"), call("save", "b")];
    let batch = pool.batch(calls).context(&context).run();
    let host = async {
        let call = in_time(client.next()).await;
        token.cancel();
        client.cancelled(call.id()).await;
        let rejected = client.answer(call.id(), "no").expect_err("cancelled");
        assert!(matches!(rejected, ClientAnswerError::Cancelled { .. }), "{rejected}");
    };
    let (results, ()) = tokio::join!(batch, host);
    let classes: Vec<_> = results.iter().map(|r| r.error().expect("an error").class()).collect();
    assert_eq!(classes, [ErrorClass::Cancelled; 2]);
    assert!(client.try_next().is_none() && client.pending().is_empty());
}

#[tokio::test]
async fn a_second_answer_and_an_unknown_id_change_nothing() {
    let (client, pool) = host_pool(MINUTE);
    let host = async {
        let call = in_time(client.next()).await;
        client.answer(call.id(), "first").expect("accepted");
        let again = client.answer(call.id(), "second").expect_err("answered");
        assert!(matches!(again, ClientAnswerError::Answered { .. }), "{again}");
        let unknown = client.answer("nobody", "x").expect_err("unknown");
        assert!(matches!(unknown, ClientAnswerError::Unknown { .. }), "{unknown}");
    };
    let (result, ()) = tokio::join!(pool.call(call("pick", "a")), host);
    assert_eq!(result.observation().to_text(), "first");
}

#[tokio::test]
async fn two_calls_with_one_id_in_a_batch_are_answered_separately() {
    let (client, pool) = host_pool(MINUTE);
    let batch = pool.call_all([call("pick", "same"), call("pick", "same")]);
    let host = async {
        let (first, second) = (in_time(client.next()).await, in_time(client.next()).await);
        assert_eq!(first.call_id(), second.call_id());
        assert_ne!(first.id(), second.id());
        client.answer(second.id(), "second").expect("accepted");
        client.answer(first.id(), "first").expect("accepted");
    };
    let (results, ()) = tokio::join!(batch, host);
    assert_eq!(texts(&results), ["first", "second"]);
}

#[tokio::test]
async fn invalid_arguments_never_reach_the_host() {
    let (client, pool) = host_pool(MINUTE);
    let _no_save = pool.restrict(["pick"]).expect("a pattern");
    let calls = [ToolCall::new("pick", r#"{"titel":"x"}"#), call("save", "a")];
    let results = pool.call_all(calls).await;
    let input = results[0].error().expect("an error");
    assert_eq!(input.class(), ErrorClass::Input);
    assert!(input.message().contains("did you mean `title`?"), "{input}");
    assert_eq!(results[1].error().expect("restricted").class(), ErrorClass::Denied);
    assert!(client.try_next().is_none());
}

#[tokio::test]
async fn calls_end_when_the_host_is_dropped() {
    let (client, pool) = host_pool(MINUTE);
    let host = async {
        let _taken = in_time(client.next()).await;
        drop(client);
    };
    let (result, ()) = tokio::join!(pool.call(call("pick", "a")), host);
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Indeterminate);
    let result = pool.call(call("pick", "b")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Internal);
}
