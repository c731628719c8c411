//! Malformed streams of real servers: each yields an error, or the calls of the model, complete or
//! visibly cut off.

use serde_json::{Value, json};
use tool_runtime::export::{Api, ApiFormat as _, ResponseStream};

/// The calls of a stream of lines, or the error.
fn outcome(api: Api, lines: &[String]) -> Result<Vec<String>, String> {
    let mut stream = ResponseStream::new(api);
    for line in lines {
        stream.push_line(line).map_err(|error| error.to_string())?;
    }
    let answer = stream.finish().map_err(|error| error.to_string())?;
    let calls = api.calls(&answer).map_err(|error| error.to_string())?;
    api.answer(&answer).map_err(|error| error.to_string())?;
    let mut ids: Vec<&str> = calls.iter().map(|call| call.call_id()).collect();
    ids.dedup();
    assert!(api == Api::Gemini || ids.len() == calls.len(), "each call has its own id: {ids:?}");
    let shown = calls.iter().map(|call| {
        // Nine letters and digits are an id that was made.
        let id = call.call_id();
        let id = if id.len() == 9 { "*" } else { id };
        format!("{id} {} {}", call.name(), call.arguments())
    });
    Ok(shown.collect())
}

fn lines(events: &[Value]) -> Vec<String> {
    let data = |event: &Value| event.as_str().map_or_else(|| event.to_string(), str::to_owned);
    events.iter().map(|event| format!("data: {}", data(event))).collect()
}

/// A name, the events, and the calls or a part of the error.
type Case<'a> = (&'a str, Vec<Value>, Result<&'a [&'a str], &'a str>);

fn check(api: Api, cases: Vec<Case<'_>>) {
    for (case, events, expected) in cases {
        let outcome = outcome(api, &lines(&events));
        match (outcome, expected) {
            (Ok(calls), Ok(expected)) => assert_eq!(calls, expected, "{case}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{case}: {error}"),
            (outcome, expected) => panic!("{case}: {outcome:?} instead of {expected:?}"),
        }
    }
}

const LOST: &str = "ended before its last event";

#[test]
fn chat_completions() {
    let chunk = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let end = || json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    let call = |call: Value| chunk(json!({ "tool_calls": [call] }));
    let piece = |index: Value, id: Value, name: Value, arguments: Value| {
        call(
            json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }),
        )
    };
    let null = || Value::Null;
    check(
        Api::OpenAiChat,
        vec![
            ("no event at all", vec![], Err(LOST)),
            ("no end", vec![piece(json!(0), json!("a"), json!("add"), json!("{}"))], Err(LOST)),
            (
                "an error in the middle",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{")),
                    json!({ "error": { "message": "overloaded" } }),
                ],
                Err("overloaded"),
            ),
            ("an error that is a string", vec![json!({ "error": "busy" })], Err("busy")),
            (
                "parallel calls without an index",
                vec![
                    piece(null(), json!("a"), json!("add"), json!("{\"a\":")),
                    piece(null(), null(), null(), json!("1}")),
                    piece(null(), json!("b"), json!("mul"), json!("{}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}", "b mul {}"]),
            ),
            (
                "parallel calls that all have the index 0",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":1}")),
                    piece(json!(0), json!("b"), json!("add"), json!("{\"a\":")),
                    piece(json!(0), null(), null(), json!("2}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}", "b add {\"a\":2}"]),
            ),
            (
                "interleaved calls",
                vec![
                    piece(json!(1), json!("b"), json!("mul"), json!("{\"b\"")),
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\"")),
                    piece(json!(1), null(), null(), json!(":2}")),
                    piece(json!(0), null(), null(), json!(":1}")),
                    end(),
                ],
                Ok(&["b mul {\"b\":2}", "a add {\"a\":1}"]),
            ),
            (
                "an index without those before it",
                vec![piece(json!(7), json!("a"), json!("add"), json!("{}")), end()],
                Ok(&["a add {}"]),
            ),
            (
                "a huge index",
                vec![piece(json!(u64::MAX), json!("a"), json!("add"), json!("{}")), end()],
                Ok(&["a add {}"]),
            ),
            (
                "arguments as an object",
                vec![piece(json!(0), json!("a"), json!("add"), json!({ "a": 1 })), end()],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "the name in each delta",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":")),
                    piece(json!(0), json!("a"), json!("add"), json!("1}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "a name in two parts",
                vec![
                    piece(json!(0), json!("a"), json!("ad"), json!("")),
                    piece(json!(0), null(), json!("d"), json!("")),
                    end(),
                ],
                Ok(&["a add {}"]),
            ),
            (
                "arguments that are cut off",
                vec![piece(json!(0), json!("a"), json!("add"), json!("{\"a\": \"x")), end()],
                Ok(&["a add {\"a\": \"x"]),
            ),
            (
                "an id that is repeated at another index",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":1}")),
                    piece(json!(1), json!("a"), json!("mul"), json!("{}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}", "* mul {}"]),
            ),
            (
                "an index that changes within a call",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":")),
                    piece(json!(1), null(), null(), json!("1}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "an index that changes, with the id",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":")),
                    piece(json!(2), json!("a"), null(), json!("1}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "an id that changes within a call",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("")),
                    piece(json!(0), json!("b"), null(), json!("{\"a\":")),
                    piece(null(), json!("c"), null(), json!("1}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "a name after the id, for each of two calls",
                vec![
                    piece(json!(0), json!("a"), null(), null()),
                    piece(json!(0), null(), json!("add"), json!("{}")),
                    piece(json!(1), json!("b"), null(), null()),
                    piece(json!(1), null(), json!("mul"), json!("{}")),
                    end(),
                ],
                Ok(&["a add {}", "b mul {}"]),
            ),
            (
                "white space after the arguments, and the whole call again",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":1}")),
                    piece(json!(0), null(), json!("add"), json!("\n")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}\n"]),
            ),
            (
                "a call that is repeated at the end",
                vec![
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":1}")),
                    piece(json!(0), json!("a"), json!("add"), json!("{\"a\":1}")),
                    end(),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "an empty object before the arguments, and a growing name",
                vec![
                    piece(json!(0), json!("a"), json!("ad"), json!("{}")),
                    piece(json!(0), null(), null(), json!("{\"a\":1}")),
                    end(),
                ],
                Ok(&["a ad {\"a\":1}"]),
            ),
            (
                "a name that is repeated as it grows",
                vec![
                    piece(json!(0), json!("a"), json!("ad"), null()),
                    piece(json!(0), null(), json!("add"), json!("{}")),
                    end(),
                ],
                Ok(&["a add {}"]),
            ),
            (
                "calls in another entry of the same choice",
                vec![json!({ "choices": [
                    { "index": 0, "delta": { "content": "I add." } },
                    { "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "add", "arguments": "{}" } }] }, "finish_reason": "tool_calls" },
                ] })],
                Ok(&["a add {}"]),
            ),
            (
                "an empty error beside an answer",
                vec![
                    json!({ "error": {}, "choices": [{ "delta": { "tool_calls": [{ "id": "a", "function": { "name": "add" } }] }, "finish_reason": "tool_calls" }] }),
                ],
                Ok(&["a add {}"]),
            ),
            (
                "whole calls without id and index",
                vec![
                    piece(null(), null(), json!("add"), json!("{\"a\":1}")),
                    piece(null(), null(), json!("add"), json!("{\"a\":2}")),
                    piece(null(), null(), json!("mul"), json!({ "b": 3 })),
                    end(),
                ],
                Ok(&["* add {\"a\":1}", "* add {\"a\":2}", "* mul {\"b\":3}"]),
            ),
            (
                "calls without arguments, id and index in one event",
                vec![
                    chunk(json!({ "tool_calls": [
                        { "function": { "name": "add" } },
                        { "function": { "name": "mul" } },
                    ] })),
                    end(),
                ],
                Ok(&["* add {}", "* mul {}"]),
            ),
            (
                "an id that is a number",
                vec![piece(json!(0), json!(7), json!("add"), json!("{}")), end()],
                Ok(&["7 add {}"]),
            ),
            (
                "an empty reason in each event, and the end of the stream",
                vec![
                    json!({ "choices": [{ "delta": { "tool_calls": [{ "id": "a", "function": { "name": "add", "arguments": "{\"a\":" } }] }, "finish_reason": "" }] }),
                    json!({ "choices": [{ "delta": { "tool_calls": [{ "function": { "arguments": "1}" } }] }, "finish_reason": "" }] }),
                    json!("[DONE]"),
                ],
                Ok(&["a add {\"a\":1}"]),
            ),
            (
                "a message instead of a delta",
                vec![
                    json!({ "choices": [{ "message": { "content": "", "tool_calls": [{ "id": "a", "function": { "name": "add", "arguments": {} } }] }, "finish_reason": "tool_calls" }] }),
                ],
                Ok(&["a add {}"]),
            ),
            (
                "calls of other kinds",
                vec![chunk(json!({ "tool_calls": [null, 7, "add", []] })), end()],
                Ok(&[]),
            ),
            (
                "calls that are not a list",
                vec![chunk(json!({ "tool_calls": { "name": "add" } })), end()],
                Ok(&[]),
            ),
            (
                "choices of another kind",
                vec![json!({ "choices": "none" }), json!({ "choices": [] }), json!(7), end()],
                Ok(&[]),
            ),
            (
                "only another choice",
                vec![json!({ "choices": [{ "index": 1, "delta": {}, "finish_reason": "stop" }] })],
                Err(LOST),
            ),
        ],
    );
    let not_json = outcome(Api::OpenAiChat, &["data: {\"choices\"".to_owned()]);
    assert!(not_json.unwrap_err().contains("not JSON: {\"choices\""));
    for line in ["{\"error\":{\"message\":\"no model\"}}", "error: {\"error\":\"no model\"}"] {
        let refused = outcome(Api::OpenAiChat, &[line.to_owned()]);
        assert!(refused.unwrap_err().contains("no model"), "{line}");
    }
    let marked = lines(&[end()]).remove(0);
    assert_eq!(outcome(Api::OpenAiChat, &[format!("\u{feff}{marked}")]), Ok(Vec::new()));
    let skipped = ["", ": ping", "event: x", "data: [DONE]"].map(str::to_owned);
    assert!(outcome(Api::OpenAiChat, &skipped).unwrap_err().contains(LOST));
}

#[test]
fn anthropic_messages() {
    let start = || json!({ "type": "message_start", "message": { "content": [] } });
    let stop = || json!({ "type": "message_stop" });
    let begin = |index: Value, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let add = |index: i64| {
        begin(json!(index), json!({ "type": "tool_use", "id": "t", "name": "add", "input": {} }))
    };
    let partial = |index: i64, text: &str| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": text } });
    check(
        Api::Anthropic,
        vec![
            ("no end", vec![start(), add(0), partial(0, "{}")], Err(LOST)),
            ("no start", vec![add(0), partial(0, "{\"a\":1}"), stop()], Ok(&["t add {\"a\":1}"])),
            ("only an end", vec![stop()], Err("`/content`")),
            (
                "a start without a message",
                vec![json!({ "type": "message_start" }), add(0), stop()],
                Ok(&["t add {}"]),
            ),
            (
                "a delta of a block that never began",
                vec![start(), partial(0, "{\"a\":1}"), stop()],
                Ok(&[]),
            ),
            (
                "a block after a gap",
                vec![start(), add(3), partial(3, "{\"a\":1}"), stop()],
                Ok(&["t add {\"a\":1}"]),
            ),
            (
                "input of another kind",
                vec![start(), add(0), partial(0, "[1]"), stop()],
                Ok(&["t add [1]"]),
            ),
            (
                "input twice",
                vec![start(), add(0), partial(0, "{\"a\":1}"), partial(0, "{\"a\":1}"), stop()],
                Ok(&["t add {\"a\":1}{\"a\":1}"]),
            ),
            ("a huge index", vec![start(), add(1 << 40), stop()], Ok(&["t add {}"])),
            (
                "blocks that all have the index 0",
                vec![
                    start(),
                    add(0),
                    partial(0, "{\"a\":1}"),
                    begin(json!(0), json!({ "type": "tool_use", "id": "u", "name": "mul" })),
                    partial(0, "{\"b\":2}"),
                    stop(),
                ],
                Ok(&["t add {\"a\":1}", "u mul {\"b\":2}"]),
            ),
            (
                "blocks without an index",
                vec![
                    start(),
                    begin(Value::Null, json!({ "type": "tool_use", "id": "t", "name": "add" })),
                    json!({ "type": "content_block_delta", "delta": { "type": "input_json_delta", "partial_json": "{\"a\":1}" } }),
                    begin(Value::Null, json!({ "type": "tool_use", "id": "u", "name": "mul" })),
                    stop(),
                ],
                Ok(&["t add {\"a\":1}", "u mul {}"]),
            ),
            (
                "an end without `message_stop`",
                vec![
                    start(),
                    add(0),
                    json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
                ],
                Ok(&["t add {}"]),
            ),
            (
                "content of another kind",
                vec![
                    json!({ "type": "message_start", "message": { "content": "text" } }),
                    add(0),
                    stop(),
                ],
                Ok(&["t add {}"]),
            ),
            (
                "an error",
                vec![
                    start(),
                    json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
                ],
                Err("Overloaded"),
            ),
        ],
    );
    // Gaps would be rejected in the next request.
    let mut stream = ResponseStream::new(Api::Anthropic);
    for event in [start(), add(2), stop()] {
        stream.push(&event).unwrap();
    }
    let messages = Api::Anthropic.answer(&stream.finish().unwrap()).unwrap();
    assert_eq!(messages[0]["content"].as_array().unwrap().len(), 1);
}

#[test]
fn responses_and_gemini() {
    let item = |index: i64, arguments: &str| json!({ "type": "response.output_item.done", "output_index": index, "item": { "type": "function_call", "call_id": "x", "name": "add", "arguments": arguments } });
    let end =
        |output: Value| json!({ "type": "response.completed", "response": { "output": output } });
    check(
        Api::OpenAiResponses,
        vec![
            ("no end", vec![item(0, "{}")], Err(LOST)),
            (
                "items after a gap",
                vec![item(2, "{\"a\":1}"), end(json!([]))],
                Ok(&["x add {\"a\":1}"]),
            ),
            ("an end without items", vec![end(Value::Null)], Err("`/output`")),
            (
                "items that all have the index 0",
                vec![
                    json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "id": "f1", "call_id": "x", "name": "add", "arguments": "{}" } }),
                    json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "id": "f2", "call_id": "y", "name": "mul", "arguments": "{}" } }),
                    end(json!([])),
                ],
                Ok(&["x add {}", "y mul {}"]),
            ),
            (
                "an id of the item that changes",
                vec![
                    json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "id": "e1", "call_id": "x", "name": "add", "arguments": "" } }),
                    json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "e2", "delta": "{}" }),
                    json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "id": "e3", "call_id": "x", "name": "add", "arguments": "{\"a\":1}" } }),
                    end(json!([])),
                ],
                Ok(&["x add {\"a\":1}"]),
            ),
            (
                "a flat error",
                vec![
                    json!({ "type": "error", "code": "rate_limit_exceeded", "message": "Slow down" }),
                ],
                Err("Slow down"),
            ),
            ("`[DONE]` instead of an end", vec![item(0, "{}"), json!("[DONE]")], Err(LOST)),
            (
                "an item whose end is missing",
                vec![
                    json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "id": "f1", "call_id": "x", "name": "add", "arguments": "", "status": "in_progress" } }),
                    json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f1", "delta": "{\"a\":" }),
                    json!({ "type": "response.function_call_arguments.done", "output_index": 0, "item_id": "f1", "arguments": "{\"a\":1}" }),
                    end(json!([])),
                ],
                Ok(&["x add {\"a\":1}"]),
            ),
            (
                "a failure",
                vec![
                    json!({ "type": "response.failed", "response": { "error": { "message": "No quota" } } }),
                ],
                Err("No quota"),
            ),
            (
                "an answer that is cut off",
                vec![
                    item(0, "{\"a\":"),
                    json!({ "type": "response.incomplete", "response": { "output": [] } }),
                ],
                Ok(&["x add {\"a\":"]),
            ),
        ],
    );
    let event = |parts: Value, reason: Value| json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": reason }] });
    check(
        Api::Gemini,
        vec![
            ("no end", vec![event(json!([{ "text": "a" }]), Value::Null)], Err(LOST)),
            ("parts of another kind", vec![event(json!("a"), json!("STOP"))], Ok(&[])),
            (
                "a call without arguments and id",
                vec![event(json!([{ "functionCall": { "name": "add" } }]), json!("STOP"))],
                Ok(&[" add {}"]),
            ),
            (
                "a call whose arguments are a string",
                vec![event(
                    json!([{ "functionCall": { "name": "add", "args": "{\"a\":1}" } }]),
                    json!("STOP"),
                )],
                Ok(&[" add {\"a\":1}"]),
            ),
            (
                "a request that was blocked",
                vec![json!({ "promptFeedback": { "blockReason": "SAFETY" } })],
                Err("`/candidates/0`"),
            ),
        ],
    );
}
