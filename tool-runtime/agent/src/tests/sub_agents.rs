use super::{AddAction, WaitAction};
use crate::{
    Agent, AgentEvent, Model, ModelError, ModelRequest, ScriptedModel, StopReason, SubAgents,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tool_runtime::export::{Api, ApiFormat};
use tool_runtime::prelude::*;
use tool_runtime::{AgentHandle, AgentSpawner, BoxFuture, SpawnRequest, ToolPattern};

/// Makes a hang fail.
const LIMIT: Duration = Duration::from_secs(60);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it ends")
}

/// Delegate a task.
#[tool(register = false)]
async fn delegate(
    /// The task.
    task: String,
    /// The model.
    model: Option<String>,
    /// The tools.
    tools: Option<Vec<String>>,
    agents: &Arc<dyn AgentSpawner>,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let mut request = SpawnRequest::new(task).system("You help.");
    request.model = model;
    if let Some(tools) = tools {
        let parsed: Result<Vec<ToolPattern>, _> = tools.iter().map(|tool| tool.parse()).collect();
        request = request.tools(parsed.map_err(|error| ToolError::user(error.to_string()))?);
    }
    let outcome = agents.spawn(request, context).await?.await?;
    Ok(format!("{} ({} requests)", outcome.text, outcome.turns))
}

/// Handles of agents in the background.
type Handles = Mutex<Vec<AgentHandle>>;

/// Start a task in the background.
#[tool(register = false)]
async fn start(
    /// The task.
    task: String,
    agents: &Arc<dyn AgentSpawner>,
    handles: &Handles,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let handle = agents.spawn(SpawnRequest::new(task).background(), context).await?;
    let id = handle.id().to_owned();
    handles.lock().unwrap().push(handle);
    Ok(id)
}

/// A model that shows the requests it gets, and answers as its script says.
struct Observed {
    script: ScriptedModel,
    requests: mpsc::UnboundedSender<(String, Vec<String>)>,
}

impl Model for Observed {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let tools = request.tools.tools().iter().map(|tool| tool.id.clone()).collect();
        self.requests.send((request.system.clone(), tools)).unwrap();
        self.script.answer(request)
    }
}

fn script(text: &str) -> ScriptedModel {
    ScriptedModel::from_json(text).unwrap()
}

fn pool(agents: SubAgents) -> ToolPool {
    ToolPool::builder()
        .tool::<AddAction>()
        .tool::<WaitAction>()
        .tool::<DelegateAction>()
        .tool::<StartAction>()
        .state(Arc::new(agents) as Arc<dyn AgentSpawner>)
        .state(Handles::default())
        .build()
        .unwrap()
}

async fn call(pool: &ToolPool, arguments: Value) -> String {
    let result = pool.call(ToolCall::json("delegate", arguments)).await;
    result.observation().to_text().to_string()
}

#[tokio::test]
async fn a_sub_agent_has_the_tools_that_its_caller_gives_it_and_no_others() {
    let (requests, mut seen) = mpsc::unbounded_channel();
    let answers = r#"[{ "text": "Done." }, { "text": "Done." }, { "text": "Done." }]"#;
    let pool = pool(SubAgents::new(Observed { script: script(answers), requests }));
    let narrow = pool.scope();
    let _restriction = narrow.restrict(["add", "delegate"]).unwrap();
    assert_eq!(call(&narrow, json!({ "task": "a" })).await, "Done. (1 requests)");
    assert_eq!(seen.recv().await.unwrap().1, ["add", "delegate"]);
    call(&narrow, json!({ "task": "a", "tools": ["add", "wait"] })).await;
    assert_eq!(seen.recv().await.unwrap(), ("You help.".to_owned(), vec!["add".to_owned()]));
    call(&narrow, json!({ "task": "a", "tools": [] })).await;
    assert!(seen.recv().await.unwrap().1.is_empty());
    assert_eq!(narrow.tools().len(), 2, "the caller keeps its tools");
}

#[tokio::test]
async fn a_call_outside_of_the_narrowed_tools_is_refused() {
    let inner = r#"[{ "calls": [{ "name": "add", "arguments": { "a": 1, "b": 2 } }] }, { "text": "Refused." }]"#;
    let outer = r#"[{ "calls": [{ "name": "delegate", "arguments": { "task": "t", "tools": ["wait"], "model": "m" } }] }, { "text": "Ok." }]"#;
    let pool = pool(SubAgents::new(script("[]")).model("m", script(inner)));
    let mut run = Agent::new(script(outer), pool).run("Go.");
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::SubAgent { id, event } => match *event {
                AgentEvent::Result(result) => {
                    let class = result.error().map(|error| error.class());
                    events.push(format!("{id}: {class:?}"));
                }
                AgentEvent::Stopped(reason) => events.push(format!("{id}: {reason}")),
                _ => {}
            },
            AgentEvent::Result(result) => events.push(result.observation().to_text().to_string()),
            _ => {}
        }
    }
    assert_eq!(
        events,
        ["agent-1: Some(Denied)", "agent-1: the model is done", "Refused. (2 requests)"]
    );
}

#[tokio::test]
async fn unknown_models_depth_and_number_are_errors_that_say_what_to_do() {
    let pool = pool(SubAgents::new(script("[]")).model("small", script("[]")).max_running(0));
    assert_eq!(
        call(&pool, json!({ "task": "a", "model": "large" })).await,
        "`large` is not a known model; leave it out, or name one of these: `small`"
    );
    assert_eq!(
        call(&pool, json!({ "task": "a" })).await,
        "0 agents run already; wait until one of them is done"
    );

    // Each agent delegates to another one.
    let deeper = r#"{ "calls": [{ "name": "delegate", "arguments": { "task": "t" } }] }"#;
    let model = script(&format!(
        "[{deeper}, {deeper}, {{ \"text\": \"End.\" }}, {{ \"text\": \"Out.\" }}]"
    ));
    let pool = self::pool(SubAgents::new(model).max_depth(2));
    let mut run =
        Agent::new(script(&format!("[{deeper}, {{ \"text\": \"Top.\" }}]")), pool).run("Go.");
    let mut refusals = Vec::new();
    while let Some(event) = run.next().await {
        refusals.extend(errors(&event));
    }
    assert_eq!(refusals, ["agents nest deeper than 2; do this task yourself"]);
}

/// The errors in the results of an agent and its sub-agents.
fn errors(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::SubAgent { event, .. } => errors(event),
        AgentEvent::Result(result) => Some(result.error()?.message().to_owned()),
        _ => None,
    }
}

/// A model that never answers, and says when its request is dropped.
struct Silent(Arc<Notify>, Arc<Notify>);

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Model for Silent {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, _: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        self.0.notify_one();
        let dropped = NotifyOnDrop(Arc::clone(&self.1));
        Box::pin(async move {
            let _dropped = dropped;
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn a_sub_agent_ends_with_the_run_of_its_parent() {
    for is_cancelled in [true, false] {
        let (asked, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let pool = pool(SubAgents::new(Silent(Arc::clone(&asked), Arc::clone(&dropped))));
        let outer = r#"[{ "calls": [{ "name": "delegate", "arguments": { "task": "t" } }] }]"#;
        let mut run = Agent::new(script(outer), pool).run("Go.");
        let cancellation = run.cancellation();
        let driver = tokio::spawn(async move {
            while let Some(event) = run.next().await {
                if let AgentEvent::Stopped(reason) = event {
                    return matches!(reason, StopReason::Cancelled);
                }
            }
            false
        });
        within(asked.notified()).await;
        if is_cancelled {
            cancellation.cancel();
            assert!(within(driver).await.unwrap());
        } else {
            driver.abort();
        }
        within(dropped.notified()).await;
    }
}

#[tokio::test]
async fn a_sub_agent_in_the_background_outlives_its_call_and_not_its_run() {
    let (asked, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let pool = pool(SubAgents::new(Silent(Arc::clone(&asked), Arc::clone(&dropped))));
    let outer = r#"[
        { "calls": [{ "name": "start", "arguments": { "task": "t" } }] }, { "text": "Started." }, { "text": "Still." }
    ]"#;
    let mut run = Agent::new(script(outer), pool.clone()).run("Go.");
    while run.next().await.is_some() {}
    within(asked.notified()).await;
    run.send("And now?");
    while run.next().await.is_some() {}
    let context = pool.context();
    let handle = context.get::<Handles>().unwrap().lock().unwrap().pop().unwrap();
    assert_eq!(handle.id(), "agent-1");
    drop(run);
    assert_eq!(within(handle).await.unwrap_err().message(), "the agent stopped: it was cancelled");
    within(dropped.notified()).await;
}

#[tokio::test]
async fn the_handle_of_a_sub_agent_in_the_background_has_its_outcome() {
    let pool = pool(SubAgents::new(script(r#"[{ "text": "Found." }]"#)));
    let result = pool.call(ToolCall::json("start", json!({ "task": "t" }))).await;
    assert_eq!(result.observation().to_text(), "agent-1");
    let context = pool.context();
    let handle = context.get::<Handles>().unwrap().lock().unwrap().pop().unwrap();
    assert_eq!(within(handle).await.unwrap().text, "Found.");
}
