//! Answers that were cut: their calls do not run, and the model and the host learn why.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::export::{Api, FinishReason, ResponseStream, StreamError};
use tool_runtime::prelude::*;

fn chat(reason: &str, arguments: &str) -> Value {
    json!({ "choices": [{ "finish_reason": reason, "message": {
        "role": "assistant",
        "tool_calls": [{ "id": "a", "function": { "name": "erase", "arguments": arguments } }],
    } }] })
}

fn anthropic(reason: &str) -> Value {
    json!({ "stop_reason": reason, "content": [{ "type": "tool_use", "id": "a", "name": "erase", "input": {} }] })
}

fn responses(status: &str, reason: Value) -> Value {
    json!({ "status": status, "incomplete_details": reason, "output": [
        { "type": "function_call", "call_id": "a", "name": "erase", "arguments": "", "status": status },
    ] })
}

fn gemini(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason, "content": { "parts": [{ "functionCall": { "name": "erase" } }] } }] })
}

/// The times that the tool runs, and the result of the call. The pool repairs arguments.
async fn run(api: Api, answer: &Value) -> (usize, ToolResult, Vec<Value>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let erase = Tool::builder("erase", "Erase all.").handler(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        async { "erased" }
    });
    let pool = ToolPool::builder().add(erase).repair().build().unwrap();
    let export = pool.snapshot().export(api);
    let mut results = pool.call_all(export.calls(answer).unwrap()).await;
    let messages = export.next_messages(answer, &results).unwrap();
    (runs.load(Ordering::Relaxed), results.remove(0), messages)
}

#[tokio::test]
async fn the_calls_of_a_cut_answer_do_not_run() {
    let limit = json!({ "reason": "max_output_tokens" });
    for (api, answer, word) in [
        (Api::Anthropic, anthropic("max_tokens"), "max_tokens"),
        (Api::Anthropic, anthropic("refusal"), "refusal"),
        (Api::Anthropic, anthropic("model_context_window_exceeded"), "context_window"),
        (Api::OpenAiChat, chat("length", ""), "length"),
        (Api::OpenAiChat, chat("length", "{}"), "length"),
        (Api::OpenAiChat, chat("content_filter", ""), "content_filter"),
        (Api::OpenAiChat, chat("error", ""), "broke off"),
        (Api::OpenAiResponses, responses("incomplete", limit), "max_output_tokens"),
        (Api::OpenAiResponses, responses("incomplete", Value::Null), "incomplete"),
        (
            Api::OpenAiChat,
            chat("function_call_filter: MALFORMED_FUNCTION_CALL", ""),
            "could not be read",
        ),
        (Api::Gemini, gemini("MAX_TOKENS"), "MAX_TOKENS"),
        (Api::Gemini, gemini("SAFETY"), "SAFETY"),
        (Api::Gemini, gemini("MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL"),
    ] {
        let (runs, result, messages) = run(api, &answer).await;
        assert_eq!(runs, 0, "{api}: {answer}");
        assert_eq!(result.error().unwrap().class(), ErrorClass::Input, "{api}: {answer}");
        let text = result.observation().to_text();
        assert!(text.contains(word) && text.contains("`erase` was not run"), "{api}: {text}");
        assert_eq!(messages.len(), 2, "{api}: {messages:?}");
        assert!(messages[1].to_string().contains("was not run"), "{api}: {messages:?}");
    }
}

#[tokio::test]
async fn the_calls_of_complete_answers_run() {
    for (api, answer) in [
        (Api::Anthropic, anthropic("tool_use")),
        (Api::Anthropic, anthropic("")),
        (Api::OpenAiChat, chat("tool_calls", "")),
        (Api::OpenAiChat, chat("stop", "{}")),
        (Api::OpenAiChat, chat("", "{}")),
        (Api::OpenAiChat, chat("a_new_word", "{}")),
        (Api::OpenAiResponses, responses("completed", Value::Null)),
        (Api::Gemini, gemini("STOP")),
        (Api::Gemini, gemini("")),
    ] {
        let (runs, result, _) = run(api, &answer).await;
        assert_eq!((runs, result.is_error()), (1, false), "{api}: {answer}");
    }
}

#[test]
fn the_reason_is_part_of_an_export() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let reason = |api: Api, answer: Value| pool.snapshot().export(api).finish_reason(&answer);
    let gemini = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x)" }] });
    assert_eq!(reason(Api::Gemini, gemini), FinishReason::MalformedCall("print(x)".into()));
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    assert_eq!(reason(Api::Gemini, blocked), FinishReason::Filtered("SAFETY".into()));
    let paused = json!({ "stop_reason": "pause_turn", "content": [] });
    assert_eq!(reason(Api::Anthropic, paused), FinishReason::Paused("pause_turn".into()));
    let failed = json!({ "status": "failed", "error": { "message": "no GPU" }, "output": [] });
    assert_eq!(reason(Api::OpenAiResponses, failed), FinishReason::Interrupted("no GPU".into()));
    assert_eq!(reason(Api::OpenAiChat, json!({})), FinishReason::Complete);
}

#[tokio::test]
async fn a_streamed_call_that_was_cut_does_not_run() {
    let begin = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "a", "name": "erase", "input": {} } });
    let mut stream = ResponseStream::new(Api::Anthropic);
    stream.push(&begin).unwrap();
    assert_eq!(stream.finish(), Err(StreamError::Incomplete), "a lost connection");
    let mut stream = ResponseStream::new(Api::Anthropic);
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": "max_tokens" } });
    for event in [begin, end, json!({ "type": "message_stop" })] {
        stream.push(&event).unwrap();
    }
    let (runs, result, _) = run(Api::Anthropic, &stream.finish().unwrap()).await;
    assert_eq!((runs, result.is_error()), (0, true));
}

#[tokio::test]
async fn a_call_without_arguments_and_without_a_reason_for_the_end_does_not_run() {
    let call = json!({ "index": 0, "id": "a", "function": { "name": "erase", "arguments": "" } });
    let event = json!({ "choices": [{ "delta": { "tool_calls": [call] } }] });
    let mut stream = ResponseStream::new(Api::OpenAiChat);
    stream.push(&event).unwrap();
    stream.push_line("data: [DONE]").unwrap();
    let (runs, result, _) = run(Api::OpenAiChat, &stream.finish().unwrap()).await;
    assert_eq!((runs, result.is_error()), (0, true));
}

#[test]
fn a_thought_that_was_cut_is_not_repeated() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let export = pool.snapshot().export(Api::Anthropic);
    let thought = json!({ "type": "thinking", "thinking": "Hm", "signature": "" });
    let answer = json!({ "stop_reason": "max_tokens", "content": [{ "type": "text", "text": "Hi." }, thought] });
    let messages = export.next_messages(&answer, []).unwrap();
    assert_eq!(messages[0]["content"], json!([{ "type": "text", "text": "Hi." }]));
    let export = pool.snapshot().export(Api::OpenAiResponses);
    let answer =
        json!({ "status": "incomplete", "output": [{ "type": "reasoning", "summary": [] }] });
    assert_eq!(export.next_messages(&answer, []).unwrap(), Vec::<Value>::new());
}
