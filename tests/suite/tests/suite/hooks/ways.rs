//! Hooks apply to all kinds of calls: batches, nested and typed calls, MCP.

use super::super::server::Server;
use super::super::support::class;
use super::{Seen, SendAction, builder, pool, text, to_ada};
use serde_json::json;
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;

#[tokio::test]
async fn hooks_see_batches_and_nested_calls() {
    let calls = Seen::default();
    let note = {
        let calls = calls.clone();
        Hook::before("*", move |call: HookCall| {
            calls.note(format!("{} {:?}", call.name(), call.call_id()));
            async move { if call.name() == "fail" { Before::deny("no") } else { Before::proceed() } }
        })
    };
    let relay = Tool::builder("relay", "Pass it on.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let calls = [to_ada().with_call_id("inner"), ToolCall::new("fail", "")];
            let results = context.call_all(calls).await;
            assert_eq!(class(&results[1]), ErrorClass::Denied);
            text(&results[0])
        },
    );
    let (builder, seen) = builder();
    let pool = builder.add(relay).hook(note).build().expect("a pool");
    let results = pool
        .call_all([
            ToolCall::new("mail.list", "").with_call_id("1"),
            ToolCall::new("fail", "").with_call_id("2"),
            ToolCall::new("relay", "").with_call_id("3"),
        ])
        .await;
    let errors: Vec<bool> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false]);
    assert_eq!(seen.all(), ["listed", "sent to ada"]);
    let expected = [
        r#"mail.list Some("1")"#,
        r#"fail Some("2")"#,
        r#"relay Some("3")"#,
        r#"mail.send Some("inner")"#,
        "fail None",
    ];
    assert_eq!(calls.all(), expected);
}

#[tokio::test]
async fn a_typed_call_is_shown_to_before_hooks() {
    let shown = Seen::default();
    let note = {
        let shown = shown.clone();
        Hook::before("mail.send", move |call: HookCall| {
            shown.note(call.arguments());
            async { Before::rewrite(r#"{"to":"bob"}"#) }
        })
    };
    let (pool, seen) = pool([note]);
    let send = SendAction { to: "ada".into(), text: "hi".into() };
    assert_eq!(send.call(&pool).await.expect("it runs"), "hello to bob");
    assert_eq!(shown.all(), [r#"{"to":"ada","text":"hi"}"#]);
    assert_eq!(seen.all(), ["sent to bob"]);
}

#[tokio::test]
async fn an_after_hook_replaces_the_value_of_a_typed_call() {
    let replace = |_: HookCall, _: AfterCall| async { After::replace(Observation::text("sent")) };
    let (pool, seen) = pool([Hook::after("mail.send", replace)]);
    let send = SendAction { to: "ada".into(), text: "hi".into() };
    assert_eq!(send.call(&pool).await.expect("it runs"), "sent");
    assert_eq!(seen.all(), ["sent to ada"]);
}

#[tokio::test]
async fn typed_calls_can_be_denied_and_rewrites_are_validated() {
    let deny = Hook::before("mail.*", |_: HookCall| async { Before::deny("no") });
    let wrong = Hook::before("mail.*", |_: HookCall| async { Before::rewrite(r#"{"to":"x"}"#) });
    for (hook, expected) in [(deny, ErrorClass::Denied), (wrong, ErrorClass::Internal)] {
        let (pool, seen) = pool([hook]);
        let send = SendAction { to: "ada".into(), text: "hi".into() };
        assert_eq!(send.call(&pool).await.expect_err("rejected").class(), expected);
        assert!(seen.all().is_empty());
    }
}

#[test]
fn hooks_apply_to_calls_over_mcp() {
    let mut server = Server::ready(env!("CARGO_BIN_EXE_hooked_server"));
    let mut call = |id: u64, name: &str, arguments: serde_json::Value| {
        let params = json!({"name": name, "arguments": arguments});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        server.receive()["result"].clone()
    };
    let greeted = call(1, "greet", json!({"greeting": "Hi"}));
    assert_eq!(greeted["content"][0]["text"], "Good day, number 1!");
    let denied = call(2, "remove", json!({}));
    assert_eq!(denied["isError"], true);
    assert!(denied["content"][0]["text"].as_str().expect("text").ends_with("ask somebody else"));
    assert_eq!(call(3, "tell", json!({}))["content"][0]["text"], "(redacted)");
    let wrong = call(4, "greet", json!({"greeting": 7}));
    assert!(wrong["content"][0]["text"].as_str().expect("text").contains("must be a string"));
    server.finish();
}
