//! Answers that were cut, and answers that are paused.

use super::AddAction;
use crate::{Agent, AgentEvent, Model, ModelError, ModelRequest, StopReason};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tool_runtime::BoxFuture;
use tool_runtime::export::{Api, ApiFormat, FinishReason};
use tool_runtime::prelude::*;

/// A model with these answers, in the format of an API.
struct Answers(Api, Mutex<VecDeque<Value>>);

impl Model for Answers {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(self.0)
    }

    fn answer(&self, _: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let answer = self.1.lock().unwrap().pop_front();
        Box::pin(async move { answer.ok_or_else(|| ModelError::new("no more answers")) })
    }
}

/// The events of a run with these answers, as text, and its messages.
async fn run(api: Api, answers: impl Into<VecDeque<Value>>) -> (Vec<String>, Vec<Value>) {
    let pool = ToolPool::builder().tool::<AddAction>().build().unwrap();
    let mut run = Agent::new(Answers(api, Mutex::new(answers.into())), pool).run("Go.");
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(match event {
            AgentEvent::Message(text) => format!("message {text}"),
            AgentEvent::Cut(reason) => format!("cut: {reason}"),
            AgentEvent::Call(call) => format!("call {}", call.arguments()),
            AgentEvent::Result(result) => format!("result {}", result.observation().to_text()),
            AgentEvent::Stopped(StopReason::Cut(FinishReason::TokenLimit(_))) => "limit".to_owned(),
            AgentEvent::Stopped(reason) => format!("stopped: {reason}"),
            other => panic!("{other:?}"),
        });
    }
    (events, run.messages().to_vec())
}

fn anthropic(reason: &str, content: Value) -> Value {
    json!({ "role": "assistant", "stop_reason": reason, "content": content })
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

#[tokio::test]
async fn a_call_that_was_cut_fails_and_the_model_can_call_again() {
    let call =
        |input: Value| json!([{ "type": "tool_use", "id": "a", "name": "add", "input": input }]);
    let answers = [
        anthropic("max_tokens", call(json!({ "a": 1, "b": 2 }))),
        anthropic("end_turn", text("Sorry.")),
    ];
    let (events, messages) = run(Api::Anthropic, answers).await;
    assert_eq!(
        events[..2],
        ["cut: the answer reached its limit on tokens (`max_tokens`)", r#"call {"a":1,"b":2}"#,]
    );
    assert!(
        events[2].starts_with("result `add` was not run: the answer reached its limit"),
        "{events:?}"
    );
    assert_eq!(events[3..], ["message Sorry.", "stopped: the model is done"]);
    assert_eq!(messages[2]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn a_text_that_was_cut_ends_the_run_with_the_reason() {
    let (events, messages) =
        run(Api::Anthropic, [anthropic("max_tokens", text("Once upon"))]).await;
    let cut = "cut: the answer reached its limit on tokens (`max_tokens`)";
    assert_eq!(events, ["message Once upon", cut, "limit"]);
    assert_eq!(messages.len(), 2, "the run can be resumed");
}

#[tokio::test]
async fn a_call_that_the_api_could_not_read_is_asked_for_again() {
    let malformed = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(add)" }] });
    let parts = json!([{ "text": "Done." }]);
    let done = json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] });
    let (events, messages) = run(Api::Gemini, [malformed, done]).await;
    let cut = "cut: a call in the answer could not be read (`print(add)`)";
    assert_eq!(events, [cut, "message Done.", "stopped: the model is done"]);
    let told = "a call in the answer could not be read (`print(add)`), and was not run. Write the call again.";
    assert_eq!(messages[1], json!({ "role": "user", "parts": [{ "text": told }] }));
}

#[tokio::test]
async fn a_paused_answer_is_continued() {
    let search =
        json!([{ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} }]);
    let answers = [anthropic("pause_turn", search.clone()), anthropic("end_turn", text("Found."))];
    let (events, messages) = run(Api::Anthropic, answers).await;
    assert_eq!(events, ["message Found.", "stopped: the model is done"]);
    assert_eq!(messages[1]["content"], search);
}
