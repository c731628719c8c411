//! The messages of the next request: what an API sent comes back, without what it would reject.

use serde_json::{Value, json};
use tool_runtime::export::{Api, Delta, ResponseStream};
use tool_runtime::prelude::*;

fn pool() -> ToolPool {
    let echo = Tool::builder("echo", "Echo.").handler(|| async { "done" });
    ToolPool::builder().add(echo).build().unwrap()
}

/// Runs the calls of an answer, and returns the next messages.
async fn next(api: Api, answer: &Value) -> Vec<Value> {
    let pool = pool();
    let export = pool.snapshot().export(api);
    let results = pool.call_all(export.calls(answer).unwrap()).await;
    export.next_messages(answer, &results).unwrap()
}

fn chat(message: Value) -> Value {
    json!({ "choices": [{ "message": message, "finish_reason": "stop" }] })
}

#[tokio::test]
async fn calls_without_an_id_or_with_the_same_get_their_own() {
    let call = |id: Value| json!({ "id": id, "function": { "name": "echo", "arguments": "{}" } });
    let calls = json!([call(Value::Null), call(json!("")), call(json!("a")), call(json!("a"))]);
    let answer = chat(json!({ "role": "assistant", "tool_calls": calls }));
    let messages = next(Api::OpenAiChat, &answer).await;
    let calls = messages[0]["tool_calls"].as_array().unwrap();
    let ids: Vec<&str> = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
    let answered: Vec<&str> =
        messages[1..].iter().map(|message| message["tool_call_id"].as_str().unwrap()).collect();
    assert_eq!(ids, answered);
    assert_eq!(ids[2], "a");
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{ids:?}");
    assert!(ids.iter().all(|id| !id.is_empty()));
}

#[tokio::test]
async fn empty_parts_of_chat_messages_are_left_out() {
    let texts = json!([{ "type": "text", "text": "" }, { "type": "text", "text": "Hi." }]);
    let cases = [
        (json!({ "role": "assistant", "content": "" }), None),
        (json!({ "role": "assistant", "content": null, "tool_calls": [], "refusal": null }), None),
        (
            json!({ "content": "Hi.", "tool_calls": [], "annotations": [], "audio": null }),
            Some(json!({ "role": "assistant", "content": "Hi." })),
        ),
        (
            json!({ "role": "assistant", "content": texts }),
            Some(json!({ "role": "assistant", "content": [{ "type": "text", "text": "Hi." }] })),
        ),
    ];
    for (message, expected) in cases {
        let messages = next(Api::OpenAiChat, &chat(message.clone())).await;
        assert_eq!(messages.first(), expected.as_ref(), "{message}");
    }
}

#[tokio::test]
async fn names_that_a_request_rejects_are_replaced_in_calls_and_results() {
    for (api, answer) in [
        (
            Api::OpenAiChat,
            chat(json!({ "tool_calls": [
                { "id": "a", "function": { "name": "functions.echo it", "arguments": "{}" } },
                { "id": "b", "function": { "arguments": "{}" } },
            ] })),
        ),
        (
            Api::Anthropic,
            json!({ "content": [
                { "type": "tool_use", "id": "a", "name": "functions.echo it", "input": {} },
                { "type": "tool_use", "id": "b", "name": "", "input": {} },
            ] }),
        ),
        (
            Api::Gemini,
            json!({ "candidates": [{ "content": { "parts": [
                { "functionCall": { "name": "echo it" } },
                { "functionCall": { "name": "" } },
            ] } }] }),
        ),
    ] {
        let messages = next(api, &answer).await;
        let text = Value::from(messages).to_string();
        assert!(!text.contains("\"name\":\"\"") && !text.contains("echo it\",\""), "{text}");
        assert!(text.contains("unnamed_tool"), "{text}");
    }
}

#[tokio::test]
async fn each_call_has_a_result_in_the_order_of_the_calls() {
    let pool = pool();
    let export = pool.snapshot().export(Api::Anthropic);
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "echo", "input": {} });
    let answer = json!({ "content": [call("a"), call("b"), call("c")] });
    let calls = export.calls(&answer).unwrap();
    let mut results = pool.call_all([calls[2].clone(), calls[0].clone()]).await;
    let messages = export.next_messages(&answer, &results).unwrap();
    let blocks = messages[1]["content"].as_array().unwrap();
    let ids: Vec<&str> =
        blocks.iter().map(|block| block["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(blocks[1]["is_error"], true);
    assert_eq!(blocks[1]["content"][0]["text"], "the call was not run");
    results.clear();
    assert_eq!(export.next_messages(&answer, &results).unwrap().len(), 2);
}

#[tokio::test]
async fn unknown_members_come_back_in_place() {
    let call = json!({
        "id": "a", "type": "function",
        "function": { "name": "echo", "arguments": "{}", "own": 1 },
        "extra_content": { "google": { "thought_signature": "S" } },
    });
    let details = json!([{ "type": "reasoning.text", "text": "Hm.", "signature": "T" }]);
    let message = json!({
        "role": "assistant", "reasoning_details": details, "reasoning_content": "Hm.",
        "content": null, "tool_calls": [call],
    });
    assert_eq!(next(Api::OpenAiChat, &chat(message.clone())).await[0], message);
    let parts = json!([
        { "text": "Hm.", "thought": true, "own": 1 },
        { "functionCall": { "name": "echo", "args": {}, "own": 2 }, "thoughtSignature": "S", "own": 3 },
    ]);
    let gemini =
        json!({ "candidates": [{ "content": { "role": "model", "parts": parts, "own": 4 } }] });
    assert_eq!(next(Api::Gemini, &gemini).await[0], gemini["candidates"][0]["content"]);
}

#[tokio::test]
async fn unknown_members_of_streamed_calls_and_messages_come_back() {
    let chunk = |delta: Value| json!({ "choices": [{ "delta": delta }] });
    let details = |entry: Value| chunk(json!({ "reasoning_details": [entry] }));
    let events = [
        chunk(json!({ "role": "assistant", "content": "" })),
        details(json!({ "type": "reasoning.text", "index": 0, "text": "H" })),
        details(json!({ "type": "reasoning.text", "index": 0, "text": "m." })),
        details(json!({ "type": "reasoning.text", "index": 0, "signature": "T" })),
        details(json!({ "type": "reasoning.encrypted", "index": 1, "data": "D" })),
        chunk(json!({ "tool_calls": [{
            "index": 0, "id": "a", "function": { "name": "echo", "arguments": "" },
            "extra_content": { "google": { "thought_signature": "S" } },
        }] })),
        chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{}" } }] })),
        json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
    ];
    let mut stream = ResponseStream::new(Api::OpenAiChat);
    for event in &events {
        stream.push(event).unwrap();
    }
    let message = &next(Api::OpenAiChat, &stream.finish().unwrap()).await[0];
    assert_eq!(
        message["reasoning_details"],
        json!([
            { "type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "T" },
            { "type": "reasoning.encrypted", "index": 1, "data": "D" },
        ])
    );
    assert_eq!(
        message["tool_calls"],
        json!([{
            "id": "a", "type": "function",
            "extra_content": { "google": { "thought_signature": "S" } },
            "function": { "name": "echo", "arguments": "{}" },
        }])
    );
}

#[tokio::test]
async fn content_as_a_list_is_read_and_joined() {
    let thinking =
        |text: &str| json!({ "type": "thinking", "thinking": [{ "type": "text", "text": text }] });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let whole = chat(json!({ "content": [thinking("Hm."), text("Hi"), text(".")] }));
    let pool = pool();
    let export = pool.snapshot().export(Api::OpenAiChat);
    assert_eq!(export.text(&whole).unwrap(), "Hi.");
    let mut stream = ResponseStream::new(Api::OpenAiChat);
    let mut deltas = Vec::new();
    for part in [thinking("H"), thinking("m."), text("Hi"), text(".")] {
        let event = json!({ "choices": [{ "delta": { "content": [part] } }] });
        deltas.extend(stream.push(&event).unwrap());
    }
    stream
        .push(&json!({ "choices": [{ "delta": { "content": "" }, "finish_reason": "stop" }] }))
        .unwrap();
    let answer = stream.finish().unwrap();
    assert_eq!(deltas, [Delta::Text("Hi".into()), Delta::Text(".".into())]);
    assert_eq!(
        export.next_messages(&answer, []).unwrap()[0]["content"],
        json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }, { "type": "text", "text": "Hi." }])
    );
}

#[test]
fn an_event_shows_all_its_calls() {
    let calls = [Delta::Call("add".into()), Delta::Call("mul".into())];
    let mut stream = ResponseStream::new(Api::OpenAiChat);
    let call = |index: u32, name: &str| json!({ "index": index, "id": name, "function": { "name": name, "arguments": "{}" } });
    let event = json!({ "choices": [{ "delta": { "content": "Hi", "tool_calls": [call(0, "add"), call(1, "mul")] } }] });
    let shown: Vec<Delta> = stream.push(&event).unwrap().collect();
    assert_eq!(shown[0], Delta::Text("Hi".into()));
    assert_eq!(shown[1..], calls);
    let mut stream = ResponseStream::new(Api::Gemini);
    let part = |name: &str| json!({ "functionCall": { "name": name } });
    let event = json!({ "candidates": [{ "content": { "parts": [part("add"), part("mul")] } }] });
    assert!(stream.push(&event).unwrap().eq(calls));
}

#[tokio::test]
async fn calls_in_another_choice_belong_to_the_answer() {
    let call =
        json!({ "id": "a", "type": "function", "function": { "name": "echo", "arguments": "{}" } });
    let answer = json!({ "choices": [
        { "message": { "role": "", "content": "I echo." } },
        { "message": { "tool_calls": [call] }, "finish_reason": "tool_calls" },
    ] });
    let messages = next(Api::OpenAiChat, &answer).await;
    let said = json!({ "role": "assistant", "content": "I echo.", "tool_calls": [call] });
    assert_eq!(messages[0], said);
    assert_eq!(messages[1]["content"], "done");
}

#[tokio::test]
async fn an_answer_that_is_not_stored_is_repeated_without_what_the_api_would_look_up() {
    let reasoning = |content: Value| json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": content });
    let call = json!({ "type": "function_call", "id": "fc", "call_id": "a", "name": "echo", "arguments": "{}" });
    let answer = |content: Value| json!({ "store": false, "status": "completed", "output": [reasoning(content), call] });
    let messages = next(Api::OpenAiResponses, &answer(Value::Null)).await;
    let repeated =
        json!({ "type": "function_call", "call_id": "a", "name": "echo", "arguments": "{}" });
    assert_eq!(messages[0], repeated);
    let messages = next(Api::OpenAiResponses, &answer(json!("E"))).await;
    assert_eq!(messages[..2], [reasoning(json!("E")), call]);
}

#[test]
fn a_text_that_was_sent_in_pieces_alone_is_part_of_the_answer() {
    let mut stream = ResponseStream::new(Api::OpenAiResponses);
    for text in ["Hel", "lo"] {
        let event = json!({ "type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": text });
        stream.push(&event).unwrap();
    }
    stream.push(&json!({ "type": "response.completed", "response": { "output": [] } })).unwrap();
    let pool = pool();
    let export = pool.snapshot().export(Api::OpenAiResponses);
    let answer = stream.finish().unwrap();
    assert_eq!(export.text(&answer).unwrap(), "Hello");
    assert_eq!(export.next_messages(&answer, []).unwrap()[0]["content"][0]["text"], "Hello");
}
