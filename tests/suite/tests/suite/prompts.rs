//! Prompts and completions, as clients of both protocol versions see them.

use super::server::{Server, stateless};
use serde_json::{Value, json};
use tool_runtime::pool::PoolProblem;
use tool_runtime::prelude::*;
use tool_runtime::tool::TextArguments;

const PROGRAM: &str = env!("CARGO_BIN_EXE_offering_server");

fn stateful(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Sends a request in both protocol versions, and returns both answers.
pub(super) fn request_in_both_versions(method: &str, params: &Value) -> Value {
    let mut old = Server::ready(PROGRAM);
    old.send(&stateful(1, method, params));
    let before = old.receive();
    old.finish();
    let mut new = Server::with(PROGRAM, &[]);
    new.send(&stateless(1, method, params));
    let mut after = new.receive();
    new.finish();
    if let Some(result) = after.get_mut("result").and_then(Value::as_object_mut) {
        assert_eq!(result.remove("resultType"), Some(json!("complete")));
        result.remove("ttlMs");
        result.remove("cacheScope");
    }
    if after["error"]["code"] != before["error"]["code"] {
        assert_eq!(
            (&after["error"]["code"], &before["error"]["code"]),
            (&json!(-32602), &json!(-32002))
        );
        after["error"]["code"] = before["error"]["code"].clone();
    }
    assert_eq!(before, after);
    after
}

fn get(name: &str, arguments: &Value) -> Value {
    request_in_both_versions("prompts/get", &json!({ "name": name, "arguments": arguments }))
}

fn error_text(name: &str, arguments: &Value) -> String {
    let answer = get(name, arguments);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn capabilities_match_the_pool() {
    let (server, hello) = Server::with(PROGRAM, &[]).greeted();
    assert_eq!(
        hello["capabilities"],
        json!({
            "completions": {},
            "logging": {},
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "tools": { "listChanged": true },
        })
    );
    server.finish();
}

#[test]
fn prompts_are_listed_with_their_arguments() {
    let answer = request_in_both_versions("prompts/list", &json!({}));
    let prompts = answer["result"]["prompts"].as_array().expect("prompts").clone();
    let names: Vec<&str> = prompts.iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    assert_eq!(names, ["hello", "patience", "review", "summary"]);
    assert_eq!(
        prompts[0],
        json!({"name": "hello", "title": "Hello", "description": "Say hello.",
            "icons": [{"src": "https://example.com/hello.png"}]})
    );
    assert_eq!(
        prompts[2]["arguments"],
        json!([
            {"name": "code", "description": "The code.", "required": true},
            {"name": "focus", "description": "The text to search for.", "required": false},
            {"name": "lines", "description": "The number of lines.", "required": false},
        ])
    );
}

#[test]
fn a_prompt_returns_messages() {
    let answer = get("hello", &json!({}));
    assert_eq!(
        answer["result"],
        json!({"description": "Say hello.",
            "messages": [{"role": "user", "content": {"type": "text", "text": "Hello!"}}]})
    );
}

#[test]
fn prompt_arguments_are_parsed_by_the_type_of_the_parameter() {
    let text = |arguments: Value| {
        let answer = get("review", &arguments);
        answer["result"]["messages"][0]["content"]["text"].as_str().expect("text").to_owned()
    };
    assert_eq!(text(json!({"code": "12"})), "12 for all in 10 from shelf");
    assert_eq!(
        text(json!({"code": "a", "focus": "speed", "lines": "3"})),
        "a for speed in 3 from shelf"
    );
}

#[test]
fn invalid_arguments_are_reported_with_the_allowed_values() {
    assert_eq!(
        error_text("review", &json!({"code": "a", "focus": "sped"})),
        "invalid arguments for `review`: `focus` must be one of \"speed\", \"safety\", got \"sped\"; did you mean \"speed\"?"
    );
    for (arguments, part) in [
        (json!({}), "missing required argument `code`"),
        (json!({"code": ""}), "`code` must"),
        (json!({"code": "a", "lines": "21"}), "`lines` must be at most 20"),
        (json!({"code": "a", "lines": "many"}), "`lines` must be an integer"),
        (json!({"code": "a", "colour": "red"}), "unknown argument `colour`"),
    ] {
        let message = error_text("review", &arguments);
        assert!(message.contains(part), "{arguments}: {message}");
    }
    assert_eq!(error_text("reviw", &json!({})), "unknown prompt `reviw`; did you mean `review`?");
}

#[test]
fn the_server_continues_after_a_failed_prompt() {
    let mut server = Server::ready(PROGRAM);
    let mut fail = |id: u64, name: &str, book: &str| {
        let arguments = json!({"book": book, "chapter": "1"});
        let arguments = if name == "summary" { arguments } else { json!({}) };
        server.send(&stateful(id, "prompts/get", &json!({"name": name, "arguments": arguments})));
        let answer = server.receive();
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        answer["error"]["message"].as_str().expect("a message").to_owned()
    };
    assert_eq!(fail(1, "summary", "lost"), "that book is lost; ask for another");
    let hidden = "`summary` failed for an internal reason, which has been logged";
    assert_eq!(fail(2, "summary", "secret"), hidden);
    assert_eq!(fail(3, "summary", "boom"), hidden);
    assert!(fail(4, "patience", "").contains("did not answer within 50ms"));
    server.finish();
}

fn complete(reference: &Value, argument: &str, value: &str, given: &Value) -> Value {
    let answer = request_in_both_versions(
        "completion/complete",
        &json!({"ref": reference, "argument": {"name": argument, "value": value}, "context": {"arguments": given}}),
    );
    answer["result"]["completion"].clone()
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

#[test]
fn values_of_enums_are_completed() {
    let complete_values =
        |values: Value, total: u32| json!({"values": values, "total": total, "hasMore": false});
    let focus = |value| complete(&prompt("review"), "focus", value, &json!({}));
    assert_eq!(focus(""), complete_values(json!(["speed", "safety"]), 2));
    assert_eq!(focus("SA"), complete_values(json!(["safety"]), 1));
    assert_eq!(complete(&prompt("review"), "code", "", &json!({})), complete_values(json!([]), 0));
}

#[test]
fn completion_functions_receive_the_earlier_arguments() {
    assert_eq!(complete(&prompt("summary"), "book", "n", &json!({}))["values"], json!(["novel"]));
    let chapters = complete(&prompt("summary"), "chapter", "x", &json!({"book": "atlas/"}));
    assert_eq!(chapters["values"][1], "atlas/x1");
    assert_eq!(chapters["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&chapters["total"], &chapters["hasMore"]), (&json!(150), &json!(true)));
    let talk = json!({"type": "ref/resource", "uri": "talk://{topic}"});
    assert_eq!(complete(&talk, "topic", "a", &json!({}))["values"], json!(["atlas"]));
}

#[test]
fn an_unknown_completion_is_an_error() {
    for (reference, argument) in [
        (prompt("nope"), "focus"),
        (prompt("review"), "nope"),
        (json!({"type": "ref/resource", "uri": "nope://{topic}"}), "topic"),
    ] {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": ""}});
        assert_eq!(
            request_in_both_versions("completion/complete", &params)["error"]["code"],
            -32602,
            "{params}"
        );
    }
}

#[test]
fn methods_without_a_capability_are_unknown() {
    let mut server = Server::ready(env!("CARGO_BIN_EXE_misbehaving_tools"));
    for (id, method, params) in [
        (1, "prompts/list", json!({})),
        (2, "prompts/get", json!({"name": "a"})),
        (3, "resources/list", json!({})),
        (4, "resources/templates/list", json!({})),
        (5, "resources/read", json!({"uri": "a:b"})),
        (6, "resources/subscribe", json!({"uri": "a:b"})),
        (
            7,
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "a", "value": ""}}),
        ),
    ] {
        server.send(&stateful(id, method, &params));
        assert_eq!(server.receive()["error"]["code"], -32601, "{method}");
    }
    server.finish();
}

#[test]
fn a_pool_rejects_prompts_that_cannot_work() {
    struct Absent;

    /// Borrow state that the pool lacks.
    #[prompt(register = false)]
    async fn needs_state(_absent: &Absent) -> String {
        String::new()
    }

    let named = |name: &str| Prompt::builder(name, "Again.").handler(|| async { "again" });
    let error = ToolPool::builder()
        .prompt::<NeedsStatePrompt>()
        .add_prompt(named("twice"))
        .add_prompt(named("twice"))
        .add_prompt(named("bad name"))
        .build()
        .unwrap_err();
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    assert!(
        error.problems().iter().all(|problem| matches!(problem, PoolProblem::InvalidPrompt { .. }))
    );
    for part in ["`twice`: two prompts have this name", "bad name", "borrows a `"] {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
    }
    assert_eq!(problems.len(), 3);
}

#[test]
fn a_linked_prompt_that_is_also_added_is_one_prompt() {
    /// A prompt that is linked and named.
    #[prompt(name = "linked_and_named")]
    async fn linked_prompt() -> &'static str {
        "linked_prompt"
    }

    let pool = ToolPool::builder().linked().prompt::<LinkedPromptPrompt>();
    let error = pool.build().map(|pool| pool.prompts().len());
    // Other linked tools of this binary may lack state; this prompt never does.
    let message = error.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(!message.contains("linked_and_named"), "{message}");
}

#[tokio::test]
async fn a_dropped_or_cancelled_request_ends() {
    let waiting = Prompt::builder("wait", "Wait.").handler(std::future::pending::<String>);
    let pool = ToolPool::builder().add_prompt(waiting).build().expect("a pool");
    let token = tool_runtime::CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    token.cancel();
    let ended = pool.get_prompt("wait", &TextArguments::new(), &context).await.unwrap_err();
    assert_eq!(ended.class(), ErrorClass::Cancelled);
}
