//! Streamed answers, in the events of each API.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_runtime::export::{Api, ApiFormat as _, Delta, ResponseStream, StreamError};

/// The final answer and the deltas on the way.
fn streamed(api: Api, events: &[Value]) -> (Value, Vec<Delta>) {
    let mut stream = ResponseStream::new(api);
    let deltas = events.iter().flat_map(|event| stream.push(event).unwrap()).collect();
    (stream.finish().unwrap(), deltas)
}

fn calls(api: Api, answer: &Value) -> Vec<(String, String, String)> {
    let calls = api.calls(answer).unwrap().into_iter();
    calls.map(|call| (call.call_id().into(), call.name().into(), call.arguments().into())).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}

#[test]
fn anthropic_blocks_grow_and_signatures_are_kept() {
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let begin = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let (answer, deltas) = streamed(
        Api::Anthropic,
        &[
            json!({ "type": "message_start", "message": { "role": "assistant", "content": [], "usage": { "input_tokens": 5 } } }),
            begin(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "Add." })),
            delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
            json!({ "type": "ping" }),
            begin(1, json!({ "type": "tool_use", "id": "t1", "name": "add", "input": {} })),
            delta(1, json!({ "type": "input_json_delta", "partial_json": "{\"a\": 4" })),
            delta(1, json!({ "type": "input_json_delta", "partial_json": "0}" })),
            begin(2, json!({ "type": "tool_use", "id": "t2", "name": "ping", "input": {} })),
            delta(2, json!({ "type": "input_json_delta", "partial_json": "" })),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
            json!({ "type": "message_stop" }),
        ],
    );
    assert_eq!(
        answer["content"][0],
        json!({ "type": "thinking", "thinking": "Add.", "signature": "c2ln" })
    );
    assert_eq!(answer["usage"], json!({ "input_tokens": 5, "output_tokens": 9 }));
    assert_eq!(
        calls(Api::Anthropic, &answer),
        [call("t1", "add", r#"{"a":40}"#), call("t2", "ping", "{}")]
    );
    let expected =
        [Delta::Thought("Add.".into()), Delta::Call("add".into()), Delta::Call("ping".into())];
    assert_eq!(deltas, expected);
}

#[test]
fn truncated_arguments_are_unchanged() {
    let (answer, _) = streamed(
        Api::Anthropic,
        &[
            json!({ "type": "message_start", "message": { "content": [] } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "add" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{\"a\": " } }),
            json!({ "type": "message_stop" }),
        ],
    );
    assert_eq!(calls(Api::Anthropic, &answer), [call("t", "add", "{\"a\": ")]);
    // The API only accepts objects in a message.
    assert_eq!(Api::Anthropic.answer(&answer).unwrap()[0]["content"][0]["input"], json!({}));
}

#[test]
fn fragments_of_parallel_chat_completions_calls_are_joined() {
    let chunk = |delta: Value, finish: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
    let piece = |index: u32, id: Value, name: Value, arguments: &str| json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }] });
    let (answer, _) = streamed(
        Api::OpenAiChat,
        &[
            chunk(json!({ "role": "assistant", "content": null }), Value::Null),
            chunk(piece(0, json!("a"), json!("add"), ""), Value::Null),
            chunk(piece(0, Value::Null, Value::Null, "{\"a\":"), Value::Null),
            chunk(piece(1, json!("b"), json!("ping"), ""), Value::Null),
            chunk(piece(0, Value::Null, Value::Null, "1}"), Value::Null),
            chunk(json!({}), json!("tool_calls")),
            json!({ "choices": [], "usage": { "total_tokens": 3 } }),
        ],
    );
    assert_eq!(
        calls(Api::OpenAiChat, &answer),
        [call("a", "add", r#"{"a":1}"#), call("b", "ping", "{}")]
    );
    assert_eq!(answer["usage"]["total_tokens"], 3);
    assert_eq!(answer["choices"][0]["message"]["role"], "assistant");
}

#[test]
fn the_last_event_of_responses_is_the_answer() {
    let item =
        json!({ "type": "function_call", "call_id": "x", "name": "add", "arguments": "{\"a\":1}" });
    let (answer, _) = streamed(
        Api::OpenAiResponses,
        &[
            json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "name": "add" } }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            json!({ "type": "response.completed", "response": { "status": "completed", "output": [] } }),
        ],
    );
    assert_eq!(calls(Api::OpenAiResponses, &answer), [call("x", "add", r#"{"a":1}"#)]);
}

#[test]
fn gemini_texts_are_joined_and_signatures_kept() {
    let event = |parts: Value, finish: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish }] });
    let (answer, _) = streamed(
        Api::Gemini,
        &[
            event(json!([{ "text": "I ", "thought": true }]), Value::Null),
            event(json!([{ "text": "add.", "thought": true }]), Value::Null),
            event(
                json!([{ "functionCall": { "name": "add", "args": { "a": 1 } }, "thoughtSignature": "c2ln" }]),
                json!("STOP"),
            ),
        ],
    );
    let message = &Api::Gemini.answer(&answer).unwrap()[0];
    assert_eq!(
        message["parts"],
        json!([
            { "text": "I add.", "thought": true },
            { "functionCall": { "name": "add", "args": { "a": 1 } }, "thoughtSignature": "c2ln" },
        ])
    );
    assert_eq!(calls(Api::Gemini, &answer), [call("", "add", r#"{"a":1}"#)]);
}

#[test]
fn incomplete_streams_and_errors_are_reported() {
    let stream = ResponseStream::new(Api::Anthropic);
    assert_eq!(stream.finish(), Err(StreamError::Incomplete));
    let mut stream = ResponseStream::new(Api::Anthropic);
    let error = stream.push_line(r#"data: {"type":"error","error":{"message":"overloaded"}}"#);
    assert_eq!(error.unwrap_err(), StreamError::Api("overloaded".into()));
    assert_eq!(stream.push_line("event: ping").unwrap().count(), 0);
    assert!(matches!(stream.push_line("data: {"), Err(StreamError::NotJson(_))));
}

/// JSON with keys of events in unexpected positions.
fn unexpected_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_u64).prop_map(Value::from),
        Just(json!(999_999_999_u64)),
        prop::sample::select(vec![
            "message_start",
            "content_block_start",
            "content_block_delta",
            "text_delta",
            "input_json_delta",
            "citations_delta",
            "message_stop",
            "response.output_item.done",
            "response.completed",
            "a"
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "content_block",
        "delta",
        "index",
        "choices",
        "tool_calls",
        "function",
        "arguments",
        "candidates",
        "parts",
        "text",
        "functionCall",
        "item",
        "output_index",
        "response",
        "output",
        "usage",
        "citations",
        "partial_json",
        "finish_reason",
    ]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(crate::property::cases(256))]

    #[test]
    fn malformed_events_and_responses_never_panic(events in prop::collection::vec(unexpected_json(), 0..6)) {
        for api in Api::ALL {
            let mut stream = ResponseStream::new(api);
            for event in &events {
                drop(stream.push(event));
                drop(api.calls(event));
                drop(api.answer(event));
            }
            if let Ok(answer) = stream.finish() {
                drop(api.calls(&answer));
                drop(api.answer(&answer));
            }
        }
    }
}
