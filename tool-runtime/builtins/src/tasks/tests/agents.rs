//! The inputs of `Agent`.

use super::{
    Agent, PermissionMode, Permissions, ScriptedModel, SubAgents, Value, builder, error, json,
    meet, script, text, within,
};
use crate::Profile;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tool_runtime::BoxFuture;
use tool_runtime::export::{Api, ApiFormat};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime_agent::{AgentKind, Model, ModelError, ModelRequest};

/// A request as the model sees it: instructions, tools.
type Seen = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// A model that records its requests.
struct Recording {
    script: ScriptedModel,
    seen: Seen,
}

impl Model for Recording {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let tools = request.tools.tools().iter().map(|tool| tool.id.clone()).collect();
        self.seen.lock().unwrap().push((request.system.clone(), tools));
        self.script.answer(request)
    }
}

fn recording(turns: Value) -> (Recording, Seen) {
    let seen = Seen::default();
    (Recording { script: script(turns), seen: Arc::clone(&seen) }, seen)
}

/// A pool with agents, a tool that reads, one that writes, and those of a server.
fn pool(directory: &TempDir, agents: SubAgents, profile: Profile) -> ToolPool {
    let tool = |name: &str, reads| {
        Tool::builder(name, "A tool.").read_only(reads).handler(|| async { "ok" })
    };
    let builder = builder(&directory.path().join("tasks.db"), Some(agents), profile);
    let server = [tool("far.find", false), tool("far.drop", false)];
    let near = [tool("near.find", false)];
    let builder =
        builder.add(tool("Read", true)).add(tool("AskUser", true)).add(tool("Write", false));
    builder
        .add_from(&Source::mcp("far"), server)
        .add_from(&Source::mcp("near"), near)
        .build()
        .unwrap()
}

fn input(extra: Value) -> Value {
    let mut input = json!({ "prompt": "Look.", "description": "Look at it" });
    input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    input
}

#[tokio::test]
async fn explore_and_plan_only_read_and_others_are_errors() {
    let directory = TempDir::new().unwrap();
    let loop_forever = json!({ "calls": [{ "name": "Read" }] });
    let turns: Vec<Value> = std::iter::repeat_n(loop_forever, 30).collect();
    let (model, seen) = recording(json!(turns));
    let agents = SubAgents::new(model).kind("critic", AgentKind::new("Find faults."));
    let pool = pool(&directory, agents, Profile::Standard);
    for kind in ["Explore", "Plan"] {
        seen.lock().unwrap().clear();
        let ended = error(&pool, "Agent", input(json!({ "subagent_type": kind }))).await;
        assert!(ended.contains("reached its limit of 10 requests"), "{ended}");
        let (system, tools) = seen.lock().unwrap()[0].clone();
        assert!(system.contains("they only read"), "{system}");
        assert_eq!(tools, ["Read", "TaskGet", "TaskList"], "{kind}");
    }
    let ended =
        error(&pool, "Task", input(json!({ "subagent_type": "Plan", "maxTurns": 2 }))).await;
    assert!(ended.contains("reached its limit of 2 requests"), "{ended}");
    let unknown = error(&pool, "Agent", input(json!({ "subagent_type": "explorer" }))).await;
    assert_eq!(
        unknown,
        "`explorer` is not a type of agent; `subagent_type` is one of `general-purpose`, `Explore`, `Plan`, `critic`"
    );
}

#[tokio::test]
async fn inputs_work_or_are_refused_by_name() {
    let directory = TempDir::new().unwrap();
    let (model, seen) =
        recording(json!([{ "text": "One." }, { "text": "Two." }, { "text": "Three." }]));
    let small = script(json!([{ "text": "Small." }]));
    let agents = SubAgents::new(model).model("small", small);
    let pool = pool(&directory, agents, Profile::Standard);
    for (extra, word) in [
        (json!({ "isolation": "worktree" }), "`isolation`"),
        (json!({ "mode": "plan" }), "`mode`"),
        (json!({ "model": "large" }), "`large` is not a known model"),
        (json!({ "skills": ["review"] }), "Skill"),
        (
            json!({ "mcpServers": ["moon"] }),
            "no server `moon` has tools here; leave it out, or name one",
        ),
        (
            json!({ "mcpServers": [{ "name": "far", "tools": ["fetch"] }] }),
            "`far` has no tool `fetch`",
        ),
        (json!({ "team_name": "build" }), "`team_name` needs `name`"),
        (json!({ "team_name": "build", "name": "ada" }), "`build` is not the id or name of a team"),
        (json!({ "resume": "agent-7" }), "`agent-7` is not an agent that can be resumed"),
        (json!({ "name": "a b" }), "the name of an agent"),
        (json!({ "maxTurns": 0 }), "`maxTurns`"),
        (json!({ "sandbox": false }), "`sandbox`"),
    ] {
        let refused = error(&pool, "Agent", input(extra)).await;
        assert!(refused.contains(word), "{word}: {refused}");
    }
    assert!(seen.lock().unwrap().is_empty(), "no agent was started");

    let small = text(&pool, "Agent", input(json!({ "model": "small" }))).await;
    assert!(small.starts_with("Small."), "{small}");
    let servers = json!({ "mcpServers": [{ "name": "far", "tools": ["find"] }], "name": "scout" });
    let first = super::value(&pool, "Agent", input(servers)).await;
    assert_eq!((&first["result"], &first["turns"]), (&json!("One."), &json!(1)));
    let id = first["agent_id"].as_str().unwrap();
    assert!(id.starts_with("scout-"), "{id}");
    let tools = seen.lock().unwrap()[0].1.clone();
    assert!(
        tools.contains(&"far.find".to_owned()) && tools.contains(&"Write".to_owned()),
        "{tools:?}"
    );
    assert!(!tools.iter().any(|tool| tool == "far.drop" || tool == "near.find"), "{tools:?}");
    let renamed = input(json!({ "resume": id, "name": "other" }));
    assert!(error(&pool, "Agent", renamed).await.contains("its own name"));
    let second = text(&pool, "Agent", input(json!({ "resume": id, "name": "scout" }))).await;
    assert!(second.starts_with("Two."), "{second}");
    let tools = seen.lock().unwrap()[1].1.clone();
    assert!(!tools.contains(&"near.find".to_owned()), "it has the tools that it had: {tools:?}");
}

#[tokio::test]
async fn an_agent_that_fails_says_how_it_is_resumed_and_one_that_does_not_start_joins_no_team() {
    let directory = TempDir::new().unwrap();
    let (model, _) = recording(json!([{ "calls": [{ "name": "Read" }] }, { "text": "Done." }]));
    let pool = pool(&directory, SubAgents::new(model), Profile::Standard);
    text(&pool, "TeamCreate", json!({ "name": "build" })).await;
    let member = json!({ "team_name": "build", "name": "ada", "model": "moon" });
    error(&pool, "Agent", input(member)).await;
    let unknown = error(&pool, "SendMessage", json!({ "to": "ada", "message": "a" })).await;
    assert!(unknown.ends_with("its members: `lead`"), "{unknown}");

    let ended = error(&pool, "Agent", input(json!({ "name": "scout", "maxTurns": 1 }))).await;
    let (_, id) = ended.split_once("[agent `").unwrap_or_else(|| panic!("{ended}"));
    let (id, _) = id.split_once('`').unwrap();
    let resumed = text(&pool, "Agent", input(json!({ "resume": id, "maxTurns": 5 }))).await;
    assert!(resumed.starts_with("Done."), "{resumed}");
}

#[tokio::test]
async fn a_mode_never_exceeds_that_of_the_parent() {
    for (mode, allowed) in [("acceptEdits", false), ("plan", false), ("bypassPermissions", false)] {
        let directory = TempDir::new().unwrap();
        let permissions = Permissions::new(PermissionMode::Plan);
        let (model, _) =
            recording(json!([{ "calls": [{ "name": "Write" }] }, { "text": "Ready." }]));
        let agents = SubAgents::new(model).permissions(permissions.clone());
        let file = directory.path().join("tasks.db");
        let write = Tool::builder("Write", "Write.").tags(["edit"]).handler(|| async { "written" });
        // The mode of the pool lets `Agent` run alone.
        let builder = builder(&file, Some(agents), Profile::Standard).add(write);
        let pool = builder.policy(Only(permissions)).build().unwrap();
        let lead = script(json!([
            { "calls": [{ "name": "Agent", "arguments": input(json!({ "mode": mode })) }] },
            { "text": "End." },
        ]));
        let mut run = Agent::new(lead, pool).run("Go.");
        let mut events = Vec::new();
        while let Some(event) = within(run.next()).await {
            events.push(format!("{event:?}"));
        }
        let all = events.join("\n");
        assert_eq!(all.contains("written"), allowed, "{mode}: {all}");
        let reason = if mode == "bypassPermissions" { "dontAsk" } else { "only tools that read" };
        assert!(all.contains(reason), "{mode}: {all}");
    }
}

/// Permissions that do not decide about `Agent`.
struct Only(Permissions);

impl tool_runtime::govern::PolicyEngine for Only {
    fn decide(&self, call: &tool_runtime::govern::CallView<'_>) -> tool_runtime::govern::Decision {
        match call.name() {
            "Agent" => tool_runtime::govern::Decision::allow(),
            _ => self.0.decide(call),
        }
    }
}

#[tokio::test]
async fn agents_run_in_parallel_and_one_that_fails_does_not_affect_others() {
    let directory = TempDir::new().unwrap();
    let meeting = || script(json!([{ "calls": [{ "name": "meet" }] }, { "text": "Met." }]));
    let agents = SubAgents::new(script(json!([]))).model("a", meeting()).model("b", meeting());
    let builder = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = builder.add(meet()).build().unwrap();
    let calls = [json!({ "model": "a" }), json!({ "model": "b" }), json!({})];
    let calls = calls.map(|extra| ToolCall::json("Agent", input(extra)));
    let results = within(pool.call_all(calls)).await;
    let outputs: Vec<String> =
        results.iter().map(|result| result.observation().to_text()).collect();
    assert!(outputs[0].starts_with("Met.") && outputs[1].starts_with("Met."), "{outputs:?}");
    assert!(results[2].is_error() && outputs[2].contains("no more turns"), "{outputs:?}");
}

#[tokio::test]
async fn the_task_of_open_hands_runs_and_resumes() {
    let directory = TempDir::new().unwrap();
    let (model, seen) = recording(json!([{ "text": "One." }, { "text": "Two." }]));
    let pool = pool(&directory, SubAgents::new(model), Profile::OpenHands);
    assert!(pool.get("TaskCreate").is_none() && pool.get("Agent").is_none());
    let first = super::value(&pool, "task", json!({ "prompt": "Look." })).await;
    assert_eq!((&first["result"], &first["status"]), (&json!("One."), &json!("completed")));
    let again = json!({ "prompt": "Once more.", "resume": first["agent_id"] });
    assert_eq!(super::value(&pool, "task", again).await["result"], "Two.");
    assert_eq!(seen.lock().unwrap().len(), 2);
    let unknown = error(&pool, "task", json!({ "prompt": "Look.", "subagent_type": "x" })).await;
    assert!(unknown.contains("`general-purpose`"), "{unknown}");
}

#[tokio::test]
async fn without_a_spawner_the_tools_are_hidden_with_the_reason() {
    let (_directory, pool) = super::board();
    assert!(pool.get("Agent").is_none() && pool.get("Task").is_none());
    let report = pool.report().to_string();
    assert!(report.contains("no spawner of agents; give one by `TasksParams::agents`"), "{report}");
}
