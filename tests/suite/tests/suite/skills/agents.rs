//! Runs of agents that load skills, and sub-agents that begin with them.

use super::super::support::in_time;
use super::servers::{ended, is_alive, server, starts};
use super::{Root, names, tool};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tool_runtime::BoxFuture;
use tool_runtime::agent::{AgentSpawner, SpawnRequest};
use tool_runtime::export::ApiFormat;
use tool_runtime::prelude::*;
use tool_runtime::skills::SkillLibrary;
use tool_runtime_agent::{Agent, AgentEvent, Model, ModelError, ModelRequest, ScriptedModel};
use tool_runtime_agent::{Run, SubAgents};

/// A scripted model that records the tools of each request.
#[derive(Clone)]
struct RecordingModel(Arc<ScriptedModel>, Arc<Mutex<Vec<Vec<String>>>>);

impl RecordingModel {
    fn new(script: &str) -> Self {
        Self(Arc::new(ScriptedModel::from_json(script).unwrap()), Arc::default())
    }

    fn offered(&self) -> Vec<Vec<String>> {
        self.1.lock().unwrap().clone()
    }
}

impl Model for RecordingModel {
    fn format(&self) -> Arc<dyn ApiFormat> {
        self.0.format()
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let tools = request.tools.tools().iter().map(|tool| tool.id.clone()).collect();
        self.1.lock().unwrap().push(tools);
        self.0.answer(request)
    }
}

fn pool(library: &SkillLibrary) -> ToolPool {
    ToolPool::builder().add(tool("Read")).add(tool("Write")).add(library.tool()).build().unwrap()
}

/// The results of calls, up to the end of the task.
async fn results(run: &mut Run) -> Vec<String> {
    let mut results = Vec::new();
    while let Some(event) = in_time(run.next()).await {
        if let AgentEvent::Result(result) = event {
            let text = result.observation().to_text();
            results.push(text.lines().next_back().unwrap_or_default().to_owned());
        }
    }
    results
}

#[tokio::test]
async fn a_skill_narrows_the_run_that_loads_it_and_its_server_ends_with_the_run() {
    let (entry, starts_file) = server("agent", serde_json::json!({ "tools": ["echo", "add"] }));
    let keys = format!("allowed-tools: Read, mcp__far__echo\n{entry}");
    let pool = pool(&Root::new("agent").skill("far", &keys).load());
    let model = RecordingModel::new(
        r#"[
            { "calls": [{ "name": "Skill", "arguments": { "skill": "far" } }] },
            { "calls": [{ "name": "far.echo" }, { "name": "Write" }, { "name": "far.add" }] },
            { "text": "Done." },
            { "calls": [{ "name": "Read" }] },
            { "text": "Bye." }
        ]"#,
    );
    let agent = Agent::new(model.clone(), pool.clone());
    let mut run = agent.run("Use the skill.");
    assert_eq!(starts(&starts_file), 0);
    let answers = results(&mut run).await;
    assert!(
        answers[0].contains("the tools are limited to `Read`, `mcp__far__echo`"),
        "{answers:?}"
    );
    let denied = answers.iter().filter(|answer| answer.contains("not available")).count();
    assert_eq!(denied, 2, "`Write` and `far.add`: {answers:?}");
    let narrowed = ["Read", "Skill", "far.echo"];
    assert_eq!(model.offered(), [&["Read", "Skill", "Write"][..], &narrowed, &narrowed]);
    assert!(is_alive(&starts_file), "the conversation may go on");
    run.send("And again.");
    assert_eq!(results(&mut run).await, ["Read"]);
    assert_eq!(model.offered()[3], narrowed, "the skill holds for the whole conversation");
    assert_eq!(names(agent.pool())[..3], ["Read", "Skill", "Write"], "only this conversation");
    in_time(run.close()).await;
    assert!(!is_alive(&starts_file), "closing waits for the end of the process");
    assert_eq!(names(&pool), ["Read", "Skill", "Write"]);
}

#[tokio::test]
async fn a_dropped_run_ends_the_servers_of_its_skills() {
    let (entry, starts_file) = server("dropped-run", serde_json::json!({ "tools": ["echo"] }));
    let pool = pool(&Root::new("dropped-run").skill("far", &entry).load());
    let script = r#"[{ "calls": [{ "name": "Skill", "arguments": { "skill": "far" } }] }, { "text": "Done." }]"#;
    let mut run = Agent::new(RecordingModel::new(script), pool.clone()).run("Go.");
    results(&mut run).await;
    assert!(is_alive(&starts_file));
    drop(run);
    ended(&starts_file).await;
}

/// Delegate a task with a skill.
#[tool(register = false)]
async fn delegate(
    /// The skill.
    skill: String,
    agents: &Arc<dyn AgentSpawner>,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let request =
        SpawnRequest::new("Use the skill.").skill(skill).tools(["Read".parse()?, "Write".parse()?]);
    Ok(agents.spawn(request, context).await?.await?.text)
}

#[tokio::test]
async fn a_sub_agent_begins_with_a_skill_that_narrows_it_alone() {
    let (entry, starts_file) = server("sub-agent", serde_json::json!({ "tools": ["echo"] }));
    let keys = format!("allowed-tools: Read, mcp__far__echo\n{entry}");
    let library = Root::new("sub-agent").skill("far", &keys).load();
    let model = RecordingModel::new(r#"[{ "calls": [{ "name": "Read" }] }, { "text": "Done." }]"#);
    let agents: Arc<dyn AgentSpawner> = Arc::new(SubAgents::new(model.clone()));
    let pool = ToolPool::builder().add(tool("Read")).add(tool("Write")).add(library.tool());
    let session = pool.tool::<DelegateAction>().state(agents).build().unwrap().session();
    let pool = session.pool();
    let call = ToolCall::json("delegate", serde_json::json!({ "skill": "far" }));
    let result = in_time(pool.call(call)).await;
    assert_eq!(result.observation().to_text(), "Done.");
    assert_eq!(
        model.offered(),
        [["Read"], ["Read"]],
        "less than the skill and less than the request"
    );
    ended(&starts_file).await;
    assert_eq!(names(pool), ["Read", "Skill", "Write", "delegate"]);
    let unknown = ToolCall::json("delegate", serde_json::json!({ "skill": "fra" }));
    let result = in_time(pool.call(unknown)).await;
    assert!(result.error().unwrap().message().contains("`far`"), "{result:?}");
}
