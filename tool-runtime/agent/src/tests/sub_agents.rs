use super::{AddAction, WaitAction};
use crate::{
    Agent, AgentEvent, AgentKind, Model, ModelError, ModelRequest, ScriptedModel, StopReason,
    SubAgents,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tool_runtime::agent::SpawnMode;
use tool_runtime::agent::{AgentHandle, AgentSpawner, SpawnKind, SpawnRequest};
use tool_runtime::export::{Api, ApiFormat};
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::matching::ToolPattern;
use tool_runtime::prelude::*;
use tool_runtime::tool::Execution;
use tool_runtime::{BoxFuture, Principal, ToolPoolBuilder};

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

/// A model that records its requests, and answers by a script.
struct RecordingModel {
    script: ScriptedModel,
    requests: mpsc::UnboundedSender<(String, Vec<String>)>,
}

impl Model for RecordingModel {
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
    let pool = pool(SubAgents::new(RecordingModel { script: script(answers), requests }));
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
async fn a_call_outside_of_the_narrowed_tools_is_rejected() {
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
async fn errors_of_models_depth_and_number_have_a_remedy() {
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

/// A model that never answers, and notifies when its request is dropped.
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

/// Its calls would have the mode of the pool once that of the session is gone.
#[tokio::test]
async fn a_sub_agent_in_the_background_ends_with_each_session_of_its_call() {
    for (ends_outer, is_closed) in [(false, true), (false, false), (true, true), (true, false)] {
        let (asked, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let pool = pool(SubAgents::new(Silent(Arc::clone(&asked), Arc::clone(&dropped))));
        let outer = pool.session();
        let inner = outer.pool().session();
        let call = ToolCall::json("start", json!({ "task": "t" }));
        inner.pool().call_with(call, &inner.pool().context()).await;
        within(asked.notified()).await;
        let (ending, _other) = if ends_outer { (outer, inner) } else { (inner, outer) };
        if is_closed {
            within(ending.close()).await;
        } else {
            drop(ending);
        }
        let handle = pool.context().get::<Handles>().unwrap().lock().unwrap().pop().unwrap();
        let error = within(handle).await.unwrap_err();
        assert_eq!(error.message(), "the agent stopped: the session that started it has ended");
        within(dropped.notified()).await;
    }
}

#[tokio::test]
async fn a_call_whose_session_has_ended_starts_no_agent_in_the_background() {
    let (asked, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let pool = pool(SubAgents::new(Silent(asked, dropped)));
    let session = pool.session();
    let context = session.pool().context();
    session.close().await;
    pool.call_with(ToolCall::json("start", json!({ "task": "t" })), &context).await;
    let handle = pool.context().get::<Handles>().unwrap().lock().unwrap().pop().unwrap();
    assert!(within(handle).await.unwrap_err().message().contains("session"));
}

/// Records the environment of each call of `add`, as a policy reads it from the labels.
#[derive(Clone, Default)]
struct Environments(Arc<Mutex<Vec<Option<String>>>>);

impl PolicyEngine for Environments {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        if call.name() == "add" {
            let labels = call.context().execution().map(|execution| execution.labels());
            let environment = labels.and_then(|labels| labels.get("environment"));
            self.0.lock().unwrap().push(environment.cloned());
        }
        Decision::allow()
    }
}

#[tokio::test]
async fn calls_of_agents_have_the_labels_of_the_call_that_started_them() {
    let add = json!({ "calls": [{ "name": "add", "arguments": { "a": 1, "b": 2 } }] });
    let turns = json!([add, { "text": "End." }]).to_string();
    for tool in ["start", "delegate", "adder"] {
        let environments = Environments::default();
        let governed = || ToolPool::builder().tool::<AddAction>().policy(environments.clone());
        let adder = Agent::new(script(&turns), governed().build().unwrap());
        let pool = governed()
            .tool::<DelegateAction>()
            .tool::<StartAction>()
            .add(adder.into_tool("adder", "Add."))
            .state(Arc::new(SubAgents::new(script(&turns))) as Arc<dyn AgentSpawner>)
            .state(Handles::default())
            .build()
            .unwrap();
        let execution = Execution::new("order-17").with_label("environment", "production");
        let context = pool.context().in_execution(&Arc::new(execution));
        within(pool.call_with(ToolCall::json(tool, json!({ "task": "t" })), &context)).await;
        let handle = pool.context().get::<Handles>().unwrap().lock().unwrap().pop();
        if let Some(handle) = handle {
            within(handle).await.unwrap();
        }
        let seen = environments.0.lock().unwrap().clone();
        assert_eq!(seen, [Some("production".to_owned())], "{tool}");
    }
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

/// Spawn an agent by a request in JSON.
#[tool(register = false)]
async fn spawn(
    /// The request.
    request: serde_json::Map<String, Value>,
    agents: &Arc<dyn AgentSpawner>,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut wanted = SpawnRequest::new("Go.");
    (wanted.kind, wanted.name, wanted.resume) = (text("kind"), text("name"), text("resume"));
    (wanted.model, wanted.system) = (text("model"), text("system"));
    for tool in text("tools").iter().flat_map(|tools| tools.split(' ')) {
        wanted.tools.get_or_insert_default().push(tool.parse()?);
    }
    wanted.skills.extend(text("skill"));
    wanted.mode = text("mode").map(|_| SpawnMode::Plan);
    let handle = agents.spawn(wanted, context).await?;
    let id = handle.id().to_owned();
    Ok(format!("{id}: {}", handle.await?.text))
}

async fn spawned(pool: &ToolPool, request: Value) -> String {
    spawned_for(pool, &pool.context(), request).await
}

async fn spawned_for(pool: &ToolPool, context: &ToolContext, request: Value) -> String {
    let call = ToolCall::json("spawn", json!({ "request": request }));
    within(pool.call_with(call, context)).await.observation().to_text()
}

fn spawning(agents: SubAgents) -> ToolPool {
    spawning_with(agents, |builder| builder)
}

fn spawning_with(
    agents: SubAgents,
    add: impl FnOnce(ToolPoolBuilder) -> ToolPoolBuilder,
) -> ToolPool {
    let agents = Arc::new(agents) as Arc<dyn AgentSpawner>;
    let builder = ToolPool::builder()
        .tool::<AddAction>()
        .tool::<WaitAction>()
        .tool::<SpawnAction>()
        .state(agents);
    add(builder).build().unwrap()
}

/// A model that answers with its name and records requests: instructions, tools, messages.
struct Named(&'static str, Arc<Mutex<Vec<RecordedRequest>>>);

/// The instructions, the tools and the number of messages of a request.
type RecordedRequest = (String, Vec<String>, usize);

impl Model for Named {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        let tools = request.tools.tools().iter().map(|tool| tool.id.clone()).collect();
        self.1.lock().unwrap().push((request.system, tools, request.messages.len()));
        let content = json!([{ "type": "text", "text": self.0 }]);
        Box::pin(async move { Ok(json!({ "role": "assistant", "content": content })) })
    }
}

#[tokio::test]
async fn a_kind_has_instructions_a_model_and_tools_of_its_own() {
    let requests = Arc::default();
    let named = |name| Named(name, Arc::clone(&requests));
    let explore = AgentKind::new("Explores.").system("Explore.").model(named("small"));
    let explore = explore.tools(["add".parse().unwrap(), "wait".parse().unwrap()]);
    let agents = SubAgents::new(named("large")).model("tiny", named("tiny")).system("Help.");
    let agents = agents.kind("explore", explore).kind("plan", AgentKind::new("Plans."));
    let kinds = [("explore", "Explores."), ("plan", "Plans.")];
    assert_eq!(agents.kinds(), kinds.map(|(name, about)| SpawnKind::new(name, about)));
    let pool = spawning(agents);
    assert_eq!(spawned(&pool, json!({ "kind": "explore" })).await, "explore-1: small");
    let narrowed =
        json!({ "kind": "explore", "tools": "add spawn", "system": "Be brief.", "model": "tiny" });
    assert_eq!(spawned(&pool, narrowed).await, "explore-2: tiny");
    assert_eq!(spawned(&pool, json!({ "kind": "plan", "name": "ada" })).await, "ada-3: large");
    let request = |system: &str, tools: &[&str]| {
        (system.to_owned(), tools.iter().map(|&tool| tool.to_owned()).collect::<Vec<_>>(), 1)
    };
    let expected = [
        request("Explore.", &["add", "wait"]),
        request("Be brief.", &["add"]),
        request("Help.", &["add", "spawn", "wait"]),
    ];
    assert_eq!(*requests.lock().unwrap(), expected);
    for (wrong, answer) in [
        (
            json!({ "kind": "explorer" }),
            "`explorer` is not a known kind of agent; leave it out, or name one of these: `explore`, `plan`",
        ),
        (json!({ "mode": "plan" }), "agents have no `mode` here; leave it out"),
        (
            json!({ "name": "a b" }),
            "the name of an agent has at most 64 letters, digits, `-` and `_`; choose another one",
        ),
    ] {
        assert_eq!(spawned(&pool, wrong).await, answer);
    }
    assert_eq!(requests.lock().unwrap().len(), 3, "no kind is replaced by another");
}

#[tokio::test]
async fn an_agent_that_ended_is_resumed_with_its_conversation_and_at_most_its_tools() {
    let requests = Arc::default();
    let model = Named("Done.", Arc::clone(&requests));
    let other = Named("Other.", Arc::clone(&requests));
    let pool = spawning(SubAgents::new(model).model("other", other).max_ended(2));
    let first = json!({ "system": "First.", "tools": "add wait" });
    assert_eq!(spawned(&pool, first).await, "agent-1: Done.");
    assert_eq!(spawned(&pool, json!({ "resume": "agent-1" })).await, "agent-1: Done.");
    assert_eq!(
        spawned(&pool, json!({ "resume": "agent-1", "tools": "add spawn" })).await,
        "agent-1: Done."
    );
    assert_eq!(spawned(&pool, json!({ "resume": "agent-1" })).await, "agent-1: Done.");
    let tools = |tools: &[&str]| tools.iter().map(|&tool| tool.to_owned()).collect::<Vec<_>>();
    let expected = [(&["add", "wait"][..], 1), (&["add", "wait"], 3), (&["add"], 5), (&["add"], 7)]
        .map(|(names, messages)| ("First.".to_owned(), tools(names), messages));
    assert_eq!(*requests.lock().unwrap(), expected);

    let message = "`agent-1` is resumed with its own name, kind, model and instructions; leave these out, or start a new agent";
    for key in ["model", "system", "kind", "name"] {
        assert_eq!(spawned(&pool, json!({ "resume": "agent-1", key: "other" })).await, message);
    }
    let stranger = pool.context().with_principal(Principal::new("eve"));
    assert_eq!(
        spawned_for(&pool, &stranger, json!({ "resume": "agent-1" })).await,
        "`agent-1` is not an agent that can be resumed; start a new one, or name one of these: none"
    );
    for id in ["agent-2", "agent-3"] {
        assert_eq!(spawned(&pool, json!({})).await, format!("{id}: Done."));
    }
    assert_eq!(
        spawned(&pool, json!({ "resume": "agent-1" })).await,
        "`agent-1` is not an agent that can be resumed; start a new one, or name one of these: `agent-2`, `agent-3`",
        "the oldest is forgotten"
    );
}

#[tokio::test]
async fn an_agent_is_resumed_after_it_was_cancelled_and_not_while_it_runs() {
    let (asked, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let agents = SubAgents::new(Silent(Arc::clone(&asked), dropped));
    let pool = spawning(agents);
    let first = json!({ "request": {} });
    let context = pool.context().with_cancellation(tool_runtime::CancellationToken::new());
    let mut running = Box::pin(pool.call_with(ToolCall::json("spawn", first), &context));
    tokio::select! {
        _ = &mut running => panic!("the model is silent"),
        () = within(asked.notified()) => {}
    }
    assert_eq!(
        spawned(&pool, json!({ "resume": "agent-1" })).await,
        "`agent-1` still runs; wait for its answer"
    );
    drop(running);
    let resumed = ToolCall::json("spawn", json!({ "request": { "resume": "agent-1" } }));
    tokio::select! {
        result = pool.call(resumed) => panic!("{result:?}"),
        () = within(asked.notified()) => {}
    }
}

#[tokio::test]
async fn skills_narrow_the_tools_of_their_agent_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sum")).unwrap();
    let text = "---\nname: sum\ndescription: Sum up.\nallowed-tools: add\n---\nUse `add`.\n";
    std::fs::write(directory.path().join("sum/SKILL.md"), text).unwrap();
    let library = tool_runtime::skills::SkillLibrary::load(directory.path());
    let requests = Arc::default();
    let agents = SubAgents::new(Named("Done.", Arc::clone(&requests)));
    let pool = spawning_with(agents, |builder| builder.add(library.tool()));
    let session = pool.session();
    // A handle that others use, too, and one of a session.
    for pool in [&pool, session.pool()] {
        let answer = spawned(pool, json!({ "skill": "sum" })).await;
        assert!(answer.ends_with(": Done."), "{answer}");
        assert_eq!(requests.lock().unwrap().pop().unwrap().1, ["Skill", "add"]);
        assert_eq!(pool.tools().len(), 4, "the caller keeps its tools");
        spawned(pool, json!({})).await;
        assert_eq!(requests.lock().unwrap().pop().unwrap().1.len(), 4);
    }
    let unknown = spawned(&pool, json!({ "skill": "product" })).await;
    assert!(unknown.contains("`product`"), "{unknown}");
}
