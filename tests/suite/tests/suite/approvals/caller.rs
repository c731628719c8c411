//! The user of an MCP client approves, in both versions of the protocol.

use super::super::questions::{VERSIONS, answering, calls};
use super::super::server::Server;
use super::{RemoveAction, Removed, builder, by_others};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::approvals::{AskCaller, Inbox, MemoryStore};
use tool_runtime::govern::Approvers;
use tool_runtime::hook::{Before, Hook};
use tool_runtime::mcp::McpServer;
use tool_runtime::policy::{Format, Hint, Policy, PoolRules as _};
use tool_runtime::prelude::*;
use tool_runtime::secret::Secrets;
use tool_runtime::testing::{ProtocolVersion, Question, Reply, TestClient};

fn pool(removed: &Removed) -> ToolPool {
    builder(removed, |decision| decision).approver(AskCaller::new().editable()).build().unwrap()
}

async fn removed_with(version: ProtocolVersion, reply: Reply) -> (String, Vec<String>, usize) {
    let removed = Removed::default();
    let client = answering(&pool(&removed), version, reply).await;
    let call = json!({ "path": "a", "password": "hunter2" });
    let result = client.call("remove", call).await.expect("a result").to_text();
    let questions = client.questions().len();
    client.close().await;
    (result, removed.all(), questions)
}

fn decision(decision: &str) -> Value {
    json!({ "decision": decision })
}

#[tokio::test]
async fn arguments_in_an_answer_count_only_if_the_form_asked_for_them() {
    let removed = Removed::default();
    let pool = builder(&removed, |decision| decision).approver(AskCaller::new()).build().unwrap();
    let edit = json!({ "decision": "approve", "arguments": r#"{"path": "b"}"# });
    let client = answering(&pool, VERSIONS[0], Reply::accept(edit)).await;
    let result = client.call("remove", json!({ "path": "a" })).await.expect("a result");
    assert_eq!(result.to_text(), "removed a");
    client.close().await;
}

#[tokio::test]
async fn the_user_approves_denies_and_edits() {
    for version in VERSIONS {
        let done = |text: &str, removed: &[&str]| {
            (text.to_owned(), removed.iter().map(|path| (*path).to_owned()).collect(), 1)
        };
        for (reply, expected) in [
            (Reply::accept(decision("approve")), done("removed a", &["a by hunter2"])),
            (
                Reply::accept(json!({ "decision": "deny", "reason": "not on a Friday" })),
                done("the call to `remove` was not approved: not on a Friday", &[]),
            ),
            (
                Reply::decline(),
                done("the call to `remove` was not approved: the user declined", &[]),
            ),
            (
                Reply::cancel(),
                done("the call to `remove` was not approved: the user declined", &[]),
            ),
            (
                Reply::accept(json!({
                    "decision": "approve",
                    "arguments": r#"{"path": "b", "password": "***"}"#,
                })),
                done("removed b", &["b by hunter2"]),
            ),
            (
                Reply::accept(json!({ "decision": "approve", "arguments": r#"{"path": ""}"# })),
                done(
                    "the call to `remove` was not approved: its arguments were changed and are not valid",
                    &[],
                ),
            ),
            (
                Reply::accept(json!({ "decision": "approve", "arguments": r#"{"path": "keep"}"# })),
                done("the call to `remove` is not allowed: `keep` is kept", &[]),
            ),
        ] {
            assert_eq!(removed_with(version, reply).await, expected, "{version:?}");
        }
    }
}

#[tokio::test]
async fn the_form_shows_the_call_without_secrets() {
    for version in VERSIONS {
        let removed = Removed::default();
        let pool = builder(&removed, |decision| decision).approver(AskCaller::new().editable());
        let pool = pool.secrets(Secrets::new().with("KEY", "s3cret-key")).build().unwrap();
        let client = answering(&pool, version, Reply::accept(decision("approve"))).await;
        let call = json!({ "path": "s3cret-key\u{202e}", "password": "hunter2" });
        client.call("remove", call).await.expect("a result");
        let questions = client.questions();
        let text = questions[0].params().to_string();
        assert!(!text.contains("hunter2") && !text.contains("s3cret"), "{text}");
        let message = "Remove it?\n  remove(path: \"${KEY}\\u{202e}\", password: ***)\n  who may answer: everyone";
        assert_eq!(questions[0].message(), message);
        let choices = &questions[0].params()["requestedSchema"]["properties"]["decision"]["oneOf"];
        let choices: Vec<&str> = choices
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|choice| choice["const"].as_str())
            .collect();
        assert_eq!(choices, ["approve", "approve_session", "deny"]);
        assert_eq!(removed.all(), ["s3cret-key\u{202e} by hunter2"]);
        client.close().await;
    }
}

/// Remove a file that the question does not name.
#[tool(register = false, visualize = erasing)]
async fn erase(
    /// Its path.
    path: String,
    removed: &Removed,
) {
    removed.0.lock().unwrap().push(path);
}

fn erasing(_: &EraseAction) -> &'static str {
    "erase a file"
}

#[derive(Default)]
struct Rounds(AtomicUsize);

/// Erase another file in each round of the request but the first.
#[tool(register = false, read_only)]
async fn erase_by_clock(rounds: &Rounds, context: &ToolContext) -> String {
    let round = rounds.0.fetch_add(1, Ordering::Relaxed).min(1);
    let call = ToolCall::json("erase", json!({ "path": format!("p{round}") }));
    context.call(call).await.observation().to_text()
}

/// The body of the tool runs once for each round, and its later rounds call with other arguments.
#[tokio::test]
async fn an_answer_does_not_count_for_other_arguments_in_a_later_round() {
    for version in VERSIONS {
        let removed = Removed::default();
        let pool = builder(&removed, |decision| decision)
            .tool::<EraseAction>()
            .tool::<EraseByClockAction>();
        let pool = pool.state(Rounds::default()).approver(AskCaller::new()).build().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let answer = move |question: Question| {
            let is_first = !question.message().contains("erase a file")
                || asked.fetch_add(1, Ordering::Relaxed) == 0;
            async move { Reply::accept(decision(if is_first { "approve" } else { "deny" })) }
        };
        let client = TestClient::builder(&pool).protocol_version(version).answer(answer);
        let client = client.connect().await;
        client.call("erase_by_clock", json!({})).await.expect("a result");
        assert!(!removed.all().contains(&"p1".to_owned()), "{version:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn the_caller_is_not_asked_if_the_rule_excludes_it() {
    for version in VERSIONS {
        let removed = Removed::default();
        let pool = builder(&removed, by_others).approver(AskCaller::new()).build().unwrap();
        let client = answering(&pool, version, Reply::accept(decision("approve"))).await;
        let result = client.call("remove", json!({ "path": "a" })).await.unwrap();
        let text = "the call to `remove` is not allowed: it requires approval, and nobody can be asked: the caller may not approve it";
        assert_eq!(result.to_text(), text);
        assert!(client.questions().is_empty() && removed.all().is_empty());
        client.close().await;
    }
}

#[tokio::test]
async fn a_client_without_forms_is_denied() {
    for version in VERSIONS {
        let removed = Removed::default();
        let client = TestClient::builder(&pool(&removed))
            .protocol_version(version)
            .capabilities(json!({}))
            .connect()
            .await;
        let result = client.call("remove", json!({ "path": "a" })).await.unwrap();
        assert!(result.to_text().ends_with("the caller cannot show forms"), "{result:?}");
        assert!(removed.all().is_empty());
        client.close().await;
    }
}

/// `then: ask`, `.confirm(..)` and a hook, in a pool without an approver.
#[tokio::test]
async fn the_user_of_the_client_is_asked_by_default() {
    let policy = Policy::parse(
        r#"{"default": "allow", "rules": [{"id": "removals", "when": {"tools": ["remove"]}, "then": "ask"}]}"#,
        Format::Json,
    );
    let pool = || ToolPool::builder().tool::<RemoveAction>();
    let hook = Hook::before("*", |_| std::future::ready(Before::ask("Remove it?")));
    for (kind, pool) in [
        ("ask", pool().install(policy.unwrap())),
        ("confirm", pool().confirm(Hint::Destructive)),
        ("hook", pool().hook(hook)),
    ] {
        let removed = Removed::default();
        let pool = pool.state(removed.clone()).build().unwrap();
        for version in VERSIONS {
            let client = answering(&pool, version, Reply::accept(decision("approve"))).await;
            client.call("remove", json!({ "path": "a", "password": "p" })).await.unwrap();
            assert_eq!(client.questions().len(), 1, "{kind}");
            client.close().await;
        }
        assert_eq!(removed.all().len(), 2, "{kind}");
    }
}

#[tokio::test]
async fn the_next_approver_is_asked_if_the_caller_cannot_be() {
    let removed = Removed::default();
    let inbox = Inbox::new(MemoryStore::new());
    let pool = builder(&removed, |decision| decision.approved_by(Approvers::caller()));
    let pool = pool.approver(AskCaller::new().or(inbox)).build().unwrap();
    let client = TestClient::builder(&pool).capabilities(json!({})).connect().await;
    let result = client.call("remove", json!({ "path": "a" })).await.unwrap();
    assert!(result.to_text().ends_with("nobody but the caller may approve it"), "{result:?}");
}

#[tokio::test]
async fn an_approval_for_a_session_is_asked_for_once() {
    let removed = Removed::default();
    let approver = tool_runtime::approvals::Remembering::new(AskCaller::new());
    let pool = builder(&removed, |decision| decision).approver(approver).build().unwrap();
    let reply = Reply::accept(decision("approve_session"));
    let first = answering(&pool, ProtocolVersion::V2025_11_25, reply.clone()).await;
    for path in ["a", "b"] {
        first.call("remove", json!({ "path": path })).await.unwrap();
    }
    assert_eq!((first.questions().len(), calls(&first)), (1, 2));
    let second = answering(&pool, ProtocolVersion::V2025_11_25, reply).await;
    second.call("remove", json!({ "path": "c" })).await.unwrap();
    assert_eq!(second.questions().len(), 1, "another session is asked again");
    assert_eq!(removed.all().len(), 3);
}

/// A call, and the same with an approval of its question.
fn asked_and_answered(asked: &Value) -> Value {
    let questions = asked["inputRequests"].as_object().expect("a question");
    let (key, _) = questions.iter().next().expect("a question");
    json!({
        "name": "remove",
        "arguments": { "path": "a" },
        "inputResponses": { key: { "action": "accept", "content": { "decision": "approve" } } },
    })
}

async fn asking_client(server: McpServer) -> TestClient {
    TestClient::for_server(server).capabilities(json!({ "elicitation": {} })).connect().await
}

#[tokio::test]
async fn one_answer_approves_one_call() {
    let removed = Removed::default();
    let client = asking_client(McpServer::new(pool(&removed), "remove", "1.0.0")).await;
    let call = json!({ "name": "remove", "arguments": { "path": "a" } });
    let first = client.request("tools/call", call).await.expect("a question");
    let mut answered = asked_and_answered(&first);
    // Without the state of the question, nobody was asked.
    let alone = client.request("tools/call", answered.clone()).await.expect("a question");
    assert_eq!(alone["resultType"], "input_required", "{alone}");
    answered["requestState"] = first["requestState"].clone();
    let ten = (0..10).map(|_| client.request("tools/call", answered.clone()));
    let ten = futures_util::future::join_all(ten).await;
    let kinds = ten.iter().map(|result| result.as_ref().expect("a result")["resultType"].as_str());
    let ran = kinds.filter(|kind| *kind == Some("complete")).count();
    assert_eq!((ran, removed.all().len()), (1, 1), "{ten:?}");
    let late = client.request("tools/call", answered).await.expect("a question");
    assert_eq!(late["resultType"], "input_required", "{late}");
}

#[tokio::test]
async fn an_approval_counts_in_the_process_that_asked() {
    let removed = Removed::default();
    let server = || McpServer::new(pool(&removed), "remove", "1.0.0").with_state_secret([7; 32]);
    let (one, other) = (asking_client(server()).await, asking_client(server()).await);
    let call = json!({ "name": "remove", "arguments": { "path": "a" } });
    let first = one.request("tools/call", call).await.expect("a question");
    let mut answered = asked_and_answered(&first);
    answered["requestState"] = first["requestState"].clone();
    let again = other.request("tools/call", answered.clone()).await.expect("a question");
    assert_eq!(again["resultType"], "input_required", "{again}");
    let done = one.request("tools/call", answered).await.expect("a result");
    assert_eq!(done["resultType"], "complete", "{done}");
    assert_eq!(removed.all().len(), 1);
}

#[test]
fn over_stdio_a_client_of_2025_11_25_answers_while_the_call_waits() {
    let server = Server::with(env!("CARGO_BIN_EXE_approving_server"), &[]);
    let mut server = server.greeted_with(&json!({ "elicitation": {} }));
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "remove", "arguments": {"path": "a"}}}));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(
        question["params"]["message"],
        "Remove it?\n  remove(path: \"a\")\n  who may answer: everyone"
    );
    server.send(&json!({"jsonrpc": "2.0", "id": question["id"],
        "result": {"action": "accept", "content": {"decision": "approve"}}}));
    let answer = server.receive();
    assert_eq!(answer["result"]["content"][0]["text"], "removed a");
    server.leave();
}

#[test]
fn over_stdio_a_client_of_2026_07_28_answers_with_a_second_request() {
    let mut server = Server::with(env!("CARGO_BIN_EXE_approving_server"), &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    let mut call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "remove", "arguments": {"path": "a"}, "_meta": meta}});
    server.send(&call);
    let first = server.receive()["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let questions = first["inputRequests"].as_object().expect("questions");
    let (key, question) = questions.iter().next().expect("a question");
    assert_eq!(question["method"], "elicitation/create");
    call["id"] = 2.into();
    call["params"]["requestState"] = first["requestState"].clone();
    call["params"]["inputResponses"] =
        json!({ key: {"action": "accept", "content": {"decision": "approve"}} });
    server.send(&call);
    let answer = server.receive();
    assert_eq!(answer["result"]["content"][0]["text"], "removed a", "{answer}");
    server.leave();
}
