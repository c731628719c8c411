//! Conversations of several tasks; the context of their calls; agents as tools of MCP servers.

use super::agent;
use crate::{Agent, AgentEvent, ScriptedModel, StopReason};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::Principal;
use tool_runtime::peer::LogLevel;
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;
use tool_runtime::toolset::SharedBy;

/// Count the visits of a conversation.
struct Counter(AtomicUsize);

#[toolset(register = false)]
impl Counter {
    /// Count a visit.
    #[tool]
    async fn visit(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Toolset for Counter {
    type Params = ();
    const SHARED_BY: SharedBy = SharedBy::Session;

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(AtomicUsize::default()))
    }
}

/// Copy files, slowly.
#[tool(progress, register = false)]
async fn copy(context: &ToolContext) -> String {
    context.progress(1, 2, "half");
    context.log(LogLevel::Info, "copying");
    context.principal().id().to_owned()
}

/// The texts of results until the run stops.
async fn results(run: &mut crate::Run) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(event) = run.next().await {
        if let AgentEvent::Result(result) = event {
            texts.push(result.observation().to_text().to_string());
        }
    }
    texts
}

#[tokio::test]
async fn a_conversation_is_one_session_and_takes_further_tasks() {
    let visit = r#"{ "calls": [{ "name": "counter.visit" }] }, { "text": "Done." }"#;
    let script = format!("[{visit}, {visit}, {visit}]");
    let pool = ToolPool::builder().toolset::<Counter>(()).build().await.unwrap();
    let agent = Agent::new(ScriptedModel::from_json(&script).unwrap(), pool);
    let mut run = agent.run("Visit.");
    assert_eq!(results(&mut run).await, ["1"]);
    run.send("Again.");
    assert_eq!(results(&mut run).await, ["2"]);
    assert_eq!(run.messages().len(), 8);
    run.close().await;
    let mut other = agent.run("Visit.");
    assert_eq!(results(&mut other).await, ["1"]);
}

#[tokio::test]
async fn a_cancelled_task_does_not_end_the_conversation() {
    let mut run = agent(r#"[{ "calls": [{ "name": "wait" }] }, { "text": "Back." }]"#).run("Wait.");
    while !matches!(run.next().await, Some(AgentEvent::Call(_))) {}
    run.cancellation().cancel();
    assert!(matches!(run.next().await, Some(AgentEvent::Stopped(StopReason::Cancelled))));
    run.send("Go on.");
    assert_eq!(run.finish().await.unwrap(), "Back.");
}

#[tokio::test]
async fn progress_and_log_entries_are_events_and_the_context_is_adapted() {
    let script = r#"[{ "calls": [{ "name": "copy" }] }, { "text": "Done." }]"#;
    let pool = ToolPool::builder().tool::<CopyAction>().build().unwrap();
    let agent = Agent::new(ScriptedModel::from_json(script).unwrap(), pool);
    let mut run =
        agent.run("Copy.").with_context(|context| context.with_principal(Principal::new("ada")));
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Progress { call_id, progress } => {
                events.push(format!("{call_id}: {} {:?}", progress.done, progress.message));
            }
            AgentEvent::Log { call_id, .. } => events.push(format!("{call_id}: log")),
            AgentEvent::Result(result) => events.push(result.observation().to_text().to_string()),
            _ => {}
        }
    }
    assert_eq!(events, [r#"call-1-0: 1 Some("half")"#, "call-1-0: log", "ada"]);
}

#[tokio::test]
async fn an_error_has_the_last_message() {
    let again =
        r#"{ "text": "Adding.", "calls": [{ "name": "add", "arguments": { "a": 1, "b": 1 } }] }"#;
    let agent = agent(&format!("[{again}]")).max_turns(1);
    let error = agent.run("Add.").finish().await.unwrap_err();
    assert_eq!(
        error.message(),
        "the agent stopped: it reached its limit of 1 requests; its last message: Adding."
    );
}

#[tokio::test]
async fn an_agent_is_a_tool_of_an_mcp_server() {
    let add = r#"{ "calls": [{ "name": "add", "arguments": { "a": 1, "b": 2 } }] }"#;
    let inner = agent(&format!(r#"[{add}, {{ "text": "It is 3." }}]"#));
    let pool = ToolPool::builder()
        .add(inner.into_tool("calculate", "Calculate something."))
        .build()
        .unwrap();
    let client = TestClient::builder(&pool).connect().await;
    let recorded = client.call("calculate", json!({ "task": "1 + 2" })).recorded().await;
    assert_eq!(recorded.result.unwrap().to_text(), "It is 3.");
    assert_eq!(recorded.progress[0].message.as_deref(), Some("calls `add`"));
    client.close().await;
}

#[tokio::test]
async fn agents_share_a_model() {
    let model =
        Arc::new(ScriptedModel::from_json(r#"[{ "text": "1" }, { "text": "2" }]"#).unwrap());
    let pool = super::pool();
    let one = Agent::new(Arc::clone(&model), pool.clone());
    let two = Agent::new(model, pool);
    assert_eq!(one.run("Count.").finish().await.unwrap(), "1");
    assert_eq!(two.run("Count.").finish().await.unwrap(), "2");
}
