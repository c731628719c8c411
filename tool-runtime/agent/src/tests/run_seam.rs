//! Tools that end the run, messages for its agent, and the permission modes of sub-agents.

use super::AddAction;
use crate::{Agent, AgentEvent, ScriptedModel, StopReason};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tool_runtime::BoxFuture;
use tool_runtime::agent::{AgentMailbox, AgentRun};
use tool_runtime::prelude::*;

/// End the task.
#[tool(register = false)]
async fn finish(
    /// The answer.
    answer: i64,
    context: &ToolContext,
) {
    let run = context.get::<AgentRun>().expect("an agent runs this call");
    run.finish(format!("It is {answer}."), Some(json!(answer)));
}

fn agent(pool: ToolPool, script: &str) -> Agent {
    Agent::new(ScriptedModel::from_json(script).unwrap(), pool)
}

#[tokio::test]
async fn a_call_ends_the_run_once_its_turn_is_complete() {
    let pool = ToolPool::builder().tool::<FinishAction>().tool::<AddAction>().build().unwrap();
    let script = r#"[
        { "calls": [{ "name": "finish", "arguments": { "answer": 42 } },
                    { "name": "add", "arguments": { "a": 1, "b": 2 } }] },
        { "text": "Once more." }
    ]"#;
    let mut run = agent(pool, script).run("What is 40 + 2?");
    let (mut texts, mut results, mut end) = (Vec::new(), 0, None);
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Message(text) => texts.push(text),
            AgentEvent::Result(_) => results += 1,
            AgentEvent::Stopped(reason) => end = Some(reason),
            _ => {}
        }
    }
    assert_eq!((texts, results), (vec!["It is 42.".to_owned()], 2));
    assert!(matches!(end, Some(StopReason::Done)), "{end:?}");
    assert_eq!(run.messages().len(), 3, "both results are part of the conversation");
    run.send("Really?");
    assert_eq!(run.finish().await.unwrap(), "Once more.", "the answer was of the first task");
}

/// Gives each request one message.
struct Mail(Mutex<VecDeque<String>>);

impl AgentMailbox for Mail {
    fn receive<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async { self.0.lock().unwrap().pop_front().into_iter().collect() })
    }
}

#[tokio::test]
async fn messages_are_part_of_the_next_request() {
    let mail: Arc<dyn AgentMailbox> =
        Arc::new(Mail(Mutex::new(["first".to_owned(), "second".to_owned()].into())));
    let pool = ToolPool::builder().tool::<AddAction>().state(mail).build().unwrap();
    let script = r#"[
        { "calls": [{ "name": "add", "arguments": { "a": 1, "b": 2 } }] },
        { "text": "Done." }
    ]"#;
    let mut run = agent(pool, script).run("Add.");
    let mut received = Vec::new();
    while let Some(event) = run.next().await {
        if let AgentEvent::Received(text) = event {
            received.push(text);
        }
    }
    assert_eq!(received, ["first", "second"]);
    let of_user = |message: &&Value| message["content"].is_string();
    let texts: Vec<_> =
        run.messages().iter().filter(of_user).map(|m| m["content"].clone()).collect();
    assert_eq!(texts, ["Add.", "first", "second"]);
}

#[cfg(feature = "policy")]
mod modes {
    use super::{Arc, ScriptedModel, agent, json};
    use crate::SubAgents;
    use tool_runtime::agent::SpawnMode;
    use tool_runtime::agent::{AgentSpawner, SpawnRequest};
    use tool_runtime::policy::{PermissionMode, Permissions};
    use tool_runtime::prelude::*;

    /// Change a file.
    #[tool(register = false, tags("edit"))]
    async fn edit() -> &'static str {
        "edited"
    }

    /// Delegate a task.
    #[tool(register = false, read_only)]
    async fn delegate(
        /// The permission mode.
        mode: SpawnMode,
        agents: &Arc<dyn AgentSpawner>,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let request = SpawnRequest::new("Edit.").mode(mode);
        Ok(agents.spawn(request, context).await?.await?.text)
    }

    /// The texts that a sub-agent with a mode sees when it edits in a pool with a mode.
    async fn edits(pool_mode: PermissionMode, mode: &str) -> String {
        let permissions = Permissions::new(pool_mode);
        let sub = ScriptedModel::from_json(
            r#"[{ "calls": [{ "name": "edit" }] }, { "text": "Ready." }]"#,
        );
        let agents: Arc<dyn AgentSpawner> =
            Arc::new(SubAgents::new(sub.unwrap()).permissions(permissions.clone()));
        let pool = ToolPool::builder().tool::<EditAction>().tool::<DelegateAction>();
        let pool = pool.policy(permissions).state(agents).build().unwrap();
        let call = json!([{ "calls": [{ "name": "delegate", "arguments": { "mode": mode } }] }, { "text": "End." }]);
        let mut run = agent(pool, &call.to_string()).run("Delegate.");
        let mut texts = Vec::new();
        while let Some(event) = run.next().await {
            match event {
                crate::AgentEvent::SubAgent { event, .. } => {
                    if let crate::AgentEvent::Result(result) = *event {
                        texts.push(result.observation().to_text());
                    }
                }
                crate::AgentEvent::Result(result) => texts.push(result.observation().to_text()),
                _ => {}
            }
        }
        texts.join("; ")
    }

    #[tokio::test]
    async fn a_sub_agent_never_may_what_its_parent_may_not() {
        use PermissionMode::{AcceptEdits, Plan};
        assert_eq!(edits(AcceptEdits, "acceptEdits").await, "edited; Ready.");
        let narrowed = edits(AcceptEdits, "plan").await;
        assert!(narrowed.contains("only tools that read may run"), "{narrowed}");
        let widened = edits(Plan, "acceptEdits").await;
        assert!(widened.contains("only tools that read may run"), "{widened}");
        let bypass = edits(AcceptEdits, "bypass").await;
        assert!(bypass.contains("\"dontAsk\", got \"bypass\""), "{bypass}");
    }
}
