mod conversations;
mod cut_answers;
mod run_seam;
#[cfg(feature = "mcp-client")]
mod servers;
mod sub_agents;

use crate::{Agent, AgentEvent, Delta, ScriptedModel, StopReason};
use serde_json::json;
use tool_runtime::prelude::*;

/// Add two integers.
#[tool(read_only, register = false)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

/// Wait forever.
#[tool(register = false)]
async fn wait() {
    std::future::pending::<()>().await;
}

fn pool() -> ToolPool {
    ToolPool::builder().tool::<AddAction>().tool::<WaitAction>().build().unwrap()
}

fn agent(script: &str) -> Agent {
    Agent::new(ScriptedModel::from_json(script).unwrap(), pool())
}

#[tokio::test]
async fn calls_run_in_parallel_and_are_reported_as_events() {
    let agent = agent(
        r#"[
            { "text": "Adding.", "calls": [
                { "name": "add", "arguments": { "a": 1, "b": 2 } },
                { "name": "add", "arguments": { "a": 40 } }
            ] },
            { "text": "3." }
        ]"#,
    );
    let mut run = agent.run("What is 1 + 2?");
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(match event {
            AgentEvent::Delta(Delta::Text(text)) => format!("delta {text}"),
            AgentEvent::Message(text) => format!("message {text}"),
            AgentEvent::Call(call) => format!("call {}", call.arguments()),
            AgentEvent::Result(result) => format!("result {}", result.is_error()),
            AgentEvent::Stopped(reason) => format!("stopped: {reason}"),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(
        events,
        [
            "delta Adding.",
            "message Adding.",
            r#"call {"a":1,"b":2}"#,
            r#"call {"a":40}"#,
            "result false",
            "result true",
            "delta 3.",
            "message 3.",
            "stopped: the model is done",
        ]
    );
    let messages = run.messages();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["content"][0]["content"][0]["text"], "3");
    assert_eq!(messages[2]["content"][1]["is_error"], true);
}

#[tokio::test]
async fn a_cancelled_run_ends_its_calls_and_can_be_resumed() {
    let agent = agent(r#"[{ "calls": [{ "name": "wait" }] }, { "text": "Back." }]"#);
    let mut run = agent.run("Wait.");
    while !matches!(run.next().await, Some(AgentEvent::Call(_))) {}
    let cancellation = run.cancellation();
    cancellation.cancel();
    let last = run.next().await;
    assert!(matches!(last, Some(AgentEvent::Stopped(StopReason::Cancelled))), "{last:?}");
    assert!(run.next().await.is_none());
    // The call without a result is not part of the conversation.
    let messages = run.messages().to_vec();
    assert_eq!(messages, [json!({ "role": "user", "content": "Wait." })]);
    assert_eq!(agent.resume(messages, "Go on.").finish().await.unwrap(), "Back.");
}

#[tokio::test]
async fn a_failed_request_and_too_many_turns_stop_a_run() {
    let error = agent("[]").run("Hi.").finish().await.unwrap_err();
    assert!(error.message().contains("the script has no more turns"), "{error}");
    let again = r#"{ "calls": [{ "name": "add", "arguments": { "a": 1, "b": 1 } }] }"#;
    let agent = agent(&format!("[{again}, {again}, {again}]")).max_turns(2);
    let error = agent.run("Add.").finish().await.unwrap_err();
    assert_eq!(error.message(), "the agent stopped: it reached its limit of 2 requests");
}

#[tokio::test]
async fn an_agent_is_a_tool_of_another() {
    let inner = agent(
        r#"[{ "calls": [{ "name": "add", "arguments": { "a": 1, "b": 2 } }] }, { "text": "It is 3." }]"#,
    );
    let pool = ToolPool::builder()
        .add(inner.into_tool("calculate", "Calculate something."))
        .build()
        .unwrap();
    let result = pool.call(ToolCall::json("calculate", json!({ "task": "1 + 2" }))).await;
    assert_eq!(result.observation().to_text(), "It is 3.");
}

#[test]
fn a_script_with_unknown_members_is_rejected() {
    let error = ScriptedModel::from_json(r#"[{ "txt": "a" }]"#).unwrap_err().to_string();
    assert!(error.contains("unknown field `txt`"), "{error}");
}
