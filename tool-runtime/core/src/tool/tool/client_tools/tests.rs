//! Calls and answers in every order, without a pool.

use super::*;
use crate::tool::arguments::Arguments;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::{Json, Observation};
use crate::vocabulary::error::{CallError, ErrorClass, ToolError};
use crate::vocabulary::time_limit::in_time;
use futures_util::FutureExt as _;
use serde_json::json;
use std::pin::pin;

type Outcome = Result<Observation, CallError>;

const MINUTE: Duration = Duration::from_secs(60);

fn pending_calls() -> (ClientTools, Tool) {
    let client = ClientTools::new(MINUTE);
    let tool = client.tool(ToolDefinition::new("pick", "Let the user pick."));
    (client, tool)
}

fn with_id(id: &str) -> ToolContext {
    ToolContext::default().with_call_id(id)
}

async fn run(tool: &Tool, context: &ToolContext) -> Outcome {
    tool.executor().call(Arguments::new("{}"), context).await
}

/// Starts a call in a task, and waits until the host has received it.
async fn started(tool: &Tool, id: &str) -> tokio::task::JoinHandle<Outcome> {
    let (tool, context) = (tool.clone(), with_id(id));
    let task = tokio::spawn(async move { run(&tool, &context).await });
    tokio::task::yield_now().await;
    task
}

/// The outcome of a call.
async fn ended(call: tokio::task::JoinHandle<Outcome>) -> Outcome {
    in_time("the call to end", call).await.expect("no panic")
}

/// The next call, which must arrive soon.
async fn arrived(client: &ClientTools) -> ClientCall {
    tokio::time::timeout(MINUTE, client.next()).await.expect("a call")
}

fn class(outcome: &Outcome) -> ErrorClass {
    outcome.as_ref().expect_err("an error").class()
}

#[tokio::test]
async fn an_answer_reaches_its_call() {
    let (client, tool) = pending_calls();
    let (first, second) = (started(&tool, "a").await, started(&tool, "b").await);
    let ids: Vec<String> = client.pending().iter().map(|call| call.id().to_owned()).collect();
    assert_eq!(ids, ["a", "b"]);
    client.answer("b", "2").expect("accepted");
    client.answer("a", Json(1)).expect("accepted");
    assert_eq!(ended(first).await.unwrap().to_text(), "1");
    assert_eq!(ended(second).await.unwrap().to_text(), "2");
    assert!(client.pending().is_empty());
    assert!(client.try_next().is_none(), "answered before it was handed out");
}

#[tokio::test]
async fn an_error_is_an_answer() {
    let (client, tool) = pending_calls();
    let call = started(&tool, "a").await;
    let no: Result<Observation, ToolError> = Err(ToolError::user("the user said no"));
    client.answer("a", no).expect("accepted");
    assert_eq!(ended(call).await.unwrap_err().message(), "the user said no");
}

#[tokio::test]
async fn each_call_is_received_once_in_order() {
    let (client, tool) = pending_calls();
    let _calls = [started(&tool, "a").await, started(&tool, "b").await];
    assert_eq!(arrived(&client).await.id(), "a");
    assert_eq!(arrived(&client.clone()).await.id(), "b");
    assert!(client.next().now_or_never().is_none());
}

#[tokio::test]
async fn every_waiting_consumer_is_woken() {
    let (client, tool) = pending_calls();
    let consumers = [0, 1, 2].map(|_| {
        let client = client.clone();
        tokio::spawn(async move { arrived(&client).await.id().to_owned() })
    });
    tokio::task::yield_now().await;
    let _calls = [started(&tool, "a").await, started(&tool, "b").await, started(&tool, "c").await];
    let mut ids = Vec::new();
    for consumer in consumers {
        ids.push(consumer.await.unwrap());
    }
    ids.sort();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test]
async fn the_host_sees_checked_arguments_only() {
    let client = ClientTools::new(MINUTE);
    let definition = ToolDefinition::new("pick", "Pick.").with_input_schema(json!({
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
    }));
    let tool = client.tool(definition);
    let context = ToolContext::default();
    let rejected = tool.executor().call(Arguments::new(r#"{"n": "x"}"#), &context).await;
    assert_eq!(class(&rejected), ErrorClass::Input);
    assert!(client.try_next().is_none());

    let mut call = pin!(tool.executor().call(Arguments::new(r#"{"n": 0, "n": 7}"#), &context));
    assert!(call.as_mut().now_or_never().is_none());
    let seen = client.try_next().expect("a call");
    assert_eq!(seen.arguments()["n"], 7);
    assert_eq!((seen.call_id(), seen.name()), (None, "pick"));
    let wire = serde_json::to_value(&seen).unwrap();
    let keys: Vec<&String> = wire.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "call_id", "name", "arguments", "deadline"]);
    assert!(wire["deadline"].as_u64().is_some_and(|ms| ms > 1_700_000_000_000));
}

#[tokio::test]
async fn an_answer_must_match_the_output_schema() {
    let client = ClientTools::new(MINUTE);
    let mut definition = ToolDefinition::new("pick", "Pick.");
    definition.output_schema = json!({ "type": "integer" }).as_object().cloned();
    let tool = client.tool(definition);
    let (good, bad) = (started(&tool, "good").await, started(&tool, "bad").await);
    client.answer("good", Json(7)).expect("accepted");
    assert_eq!(ended(good).await.unwrap().structured_json(), Some("7"));
    let rejected = client.answer("bad", "seven").unwrap_err();
    assert!(matches!(rejected, ClientAnswerError::Misfit { .. }), "{rejected}");
    assert_eq!(class(&ended(bad).await), ErrorClass::Internal);
    let again = client.answer("bad", Json(7)).unwrap_err();
    assert_eq!(again, ClientAnswerError::Answered { id: "bad".into() });
}

#[tokio::test]
async fn an_unknown_id_and_a_second_answer_are_rejected() {
    let (client, tool) = pending_calls();
    let call = started(&tool, "a").await;
    let unknown = client.answer("b", "x").unwrap_err();
    assert_eq!(unknown, ClientAnswerError::Unknown { id: "b".into() });
    client.answer("a", "first").expect("accepted");
    let twice = client.answer("a", "second").unwrap_err();
    assert_eq!(twice, ClientAnswerError::Answered { id: "a".into() });
    assert_eq!(ended(call).await.unwrap().to_text(), "first");
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_deadline_and_a_late_answer_changes_nothing() {
    let (client, tool) = pending_calls();
    let begun = tokio::time::Instant::now();
    let outcome = run(&tool, &with_id("a")).await;
    assert_eq!(begun.elapsed().as_secs(), MINUTE.as_secs());
    assert_eq!(class(&outcome), ErrorClass::Timeout);
    assert!(client.try_next().is_none(), "an expired call is not handed out");
    let late = client.answer("a", "late").unwrap_err();
    assert_eq!(late, ClientAnswerError::Expired { id: "a".into() });
}

#[tokio::test(start_paused = true)]
async fn an_earlier_deadline_of_the_caller_applies() {
    let (client, tool) = pending_calls();
    let earlier = tokio::time::Instant::now() + MINUTE / 2;
    let context = with_id("a").with_deadline(earlier.into_std());
    let (outcome, call) = tokio::join!(run(&tool, &context), client.next());
    assert_eq!(class(&outcome), ErrorClass::Timeout);
    assert_eq!(call.deadline(), Some(earlier.into_std()));
    assert_eq!(tokio::time::Instant::now(), earlier);
}

#[test]
fn a_client_executed_tool_has_its_own_timeout() {
    let (_client, tool) = pending_calls();
    assert!(tool.timeout().is_some_and(|own| own > MINUTE));
}

#[tokio::test]
async fn a_deadline_beyond_the_clock_is_ignored() {
    let client = ClientTools::new(Duration::MAX);
    let tool = client.tool(ToolDefinition::new("pick", "Pick."));
    let call = started(&tool, "a").await;
    assert_eq!(arrived(&client).await.deadline(), None);
    client.answer("a", "x").expect("accepted");
    assert!(ended(call).await.is_ok());
}

#[tokio::test]
async fn an_abandoned_call_is_removed() {
    let (client, tool) = pending_calls();
    let context = with_id("a");
    let mut call = Box::pin(run(&tool, &context));
    assert!(call.as_mut().now_or_never().is_none());
    assert!(client.is_pending("a"));
    let mut cancelled = pin!(client.cancelled("a"));
    assert!(cancelled.as_mut().now_or_never().is_none());
    drop(call);
    in_time("the call to be cancelled", cancelled).await;
    assert!(!client.is_pending("a"));
    assert!(client.pending().is_empty() && client.try_next().is_none());
    let late = client.answer("a", "late").unwrap_err();
    assert_eq!(late, ClientAnswerError::Cancelled { id: "a".into() });
}

#[tokio::test]
async fn two_calls_with_one_id_are_separate() {
    let (client, tool) = pending_calls();
    let (first, second) = (started(&tool, "a").await, started(&tool, "a").await);
    let calls = [arrived(&client).await, arrived(&client).await];
    assert_eq!(calls.each_ref().map(ClientCall::call_id), [Some("a"), Some("a")]);
    assert_ne!(calls[0].id(), calls[1].id());
    client.answer(calls[1].id(), "2").expect("accepted");
    client.answer(calls[0].id(), "1").expect("accepted");
    assert_eq!(ended(first).await.unwrap().to_text(), "1");
    assert_eq!(ended(second).await.unwrap().to_text(), "2");
}

#[tokio::test]
async fn a_late_answer_does_not_answer_a_later_call_of_its_id() {
    let (client, tool) = pending_calls();
    started(&tool, "a").await.abort();
    tokio::task::yield_now().await;
    let next = started(&tool, "a").await;
    assert!(client.answer("a", "late").is_err());
    client.answer(arrived(&client).await.id(), "right").expect("accepted");
    assert_eq!(ended(next).await.unwrap().to_text(), "right");
}

#[tokio::test]
async fn ended_calls_are_eventually_forgotten() {
    let (client, tool) = pending_calls();
    for number in 0..=1000 {
        let context = with_id(&format!("call_{number}"));
        assert!(run(&tool, &context).now_or_never().is_none());
    }
    let unknown = client.answer("call_0", "x").unwrap_err();
    assert_eq!(unknown, ClientAnswerError::Unknown { id: "call_0".into() });
    let known = client.answer("call_1", "x").unwrap_err();
    assert_eq!(known, ClientAnswerError::Cancelled { id: "call_1".into() });
}

#[tokio::test]
async fn no_call_outlives_its_host() {
    let (client, tool) = pending_calls();
    let (taken, waiting) = (started(&tool, "a").await, started(&tool, "b").await);
    assert_eq!(arrived(&client).await.id(), "a");
    let clone = client.clone();
    drop(client);
    assert!(clone.is_pending("a"), "a clone is the same host");
    drop(clone);
    assert_eq!(class(&ended(taken).await), ErrorClass::Indeterminate);
    assert_eq!(class(&ended(waiting).await), ErrorClass::Internal);
    assert_eq!(class(&run(&tool, &with_id("c")).await), ErrorClass::Internal);
}

#[tokio::test]
async fn an_answer_that_panics_ends_the_call() {
    struct Panics;
    impl IntoObservation for Panics {
        fn into_observation(self) -> Result<Observation, ToolError> {
            panic!("no")
        }
    }
    let (client, tool) = pending_calls();
    let call = started(&tool, "a").await;
    let answering = tokio::spawn(async move { client.answer("a", Panics) });
    assert!(answering.await.is_err());
    assert_eq!(class(&ended(call).await), ErrorClass::Internal);
}

/// A call whose answer and cancellation race has one outcome, which is not a rejected answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_and_a_cancellation_race_for_one_outcome() {
    for round in 0..500 {
        let (client, tool) = pending_calls();
        let token = tokio_util::sync::CancellationToken::new();
        let stop = token.clone();
        let call = tokio::spawn(async move {
            let context = with_id("a");
            tokio::select! {
                outcome = run(&tool, &context) => Some(outcome),
                () = stop.cancelled() => None,
            }
        });
        arrived(&client).await;
        let (host, answerer) = (client.clone(), client);
        let answering = tokio::spawn(async move { answerer.answer("a", "done") });
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        token.cancel();
        let (outcome, answered) = (call.await.unwrap(), answering.await.unwrap());
        if let Some(outcome) = outcome {
            assert_eq!(outcome.expect("the host is there").to_text(), "done");
            assert_eq!(answered, Ok(()));
        }
        assert!(!host.is_pending("a"));
        assert!(host.answer("a", "again").is_err());
    }
}
