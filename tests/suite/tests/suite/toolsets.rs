//! Stateful tools from their making to their end, through a pool.

use super::support::{in_time, refusal, text};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use suite::limit::limited;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tool_runtime::prelude::*;
use tool_runtime::{CancellationToken, ClientTools, PoolError, PoolProblem, Source, ToolStatus};

/// A number that calls change.
struct Counter {
    count: AtomicI64,
    step: i64,
}

#[derive(Clone, Default, serde::Deserialize, schemars::JsonSchema)]
struct CounterParams {
    /// Where to start.
    #[serde(default)]
    start: i64,
    /// How much each call adds.
    #[serde(default)]
    step: Option<i64>,
}

#[toolset]
impl Counter {
    /// Add to the counter.
    #[tool(destructive = false)]
    async fn add(
        &self,
        /// How often.
        #[arg(range = 1..=100)]
        times: i64,
    ) -> i64 {
        self.count.fetch_add(self.step * times, Ordering::SeqCst) + self.step * times
    }

    /// Tell the count, from the blocking pool.
    #[tool(read_only)]
    fn count(&self) -> i64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Tell the count.
    #[tool(read_only, inline)]
    fn peek(&self, context: &ToolContext) -> String {
        format!("{}: {}", context.call_id().unwrap_or("-"), self.count.load(Ordering::SeqCst))
    }
}

impl Toolset for Counter {
    type Params = CounterParams;

    async fn create(params: CounterParams, _: &ToolContext) -> Result<Self, ToolError> {
        let count = AtomicI64::new(params.start);
        Ok(Self { count, step: params.step.unwrap_or(1) })
    }
}

async fn counter(start: i64) -> ToolPool {
    let params = CounterParams { start, step: None };
    ToolPool::builder().toolset::<Counter>(params).build().await.expect("a pool")
}

#[tokio::test]
async fn all_calls_of_a_pool_share_one_value_and_two_pools_none() {
    let (one, other) = (counter(40).await, counter(0).await);
    assert_eq!(text(&one, "counter.add", r#"{"times":2}"#).await, "42");
    assert_eq!(text(&one, "counter.add", r#"{"times":1}"#).await, "43");
    assert_eq!(text(&one, "counter.count", "").await, "43");
    assert_eq!(text(&other, "counter.count", "").await, "0");
}

#[tokio::test]
async fn methods_may_be_plain_and_inline_and_see_the_context() {
    let pool = counter(7).await;
    let result = pool.call(ToolCall::new("counter.peek", "").with_call_id("c1")).await;
    assert_eq!(result.observation().to_text(), "c1: 7");
}

#[tokio::test]
async fn a_method_is_called_by_its_type() {
    let pool = counter(40).await;
    assert_eq!(CounterAddAction { times: 2 }.call(&pool).await.expect("called"), 42);
    assert_eq!(CounterCountAction {}.call(&pool).await.expect("called"), 42);
    let error = CounterAddAction { times: 101 }.call(&pool).await.expect_err("out of range");
    assert_eq!(error.class(), ErrorClass::Input);
    let empty = ToolPool::builder().build().expect("a pool");
    let error = CounterCountAction {}.call(&empty).await.expect_err("not there");
    assert_eq!(error.class(), ErrorClass::NotFound);
}

#[tokio::test]
async fn linked_toolsets_are_made_without_parameters() {
    let pool = ToolPool::builder().linked_toolsets().build().await.expect("a pool");
    assert_eq!(text(&pool, "counter.add", r#"{"times":3}"#).await, "3");
    let report = pool.report();
    let counter = report.tools.iter().find(|tool| tool.name == "counter.add").expect("listed");
    assert_eq!(counter.source, Source::Linked);
}

#[tokio::test]
async fn a_linked_toolset_with_parameters_is_created_once_in_any_order() {
    let builder = ToolPool::builder().linked_toolsets();
    let params = CounterParams { start: 40, ..CounterParams::default() };
    let pool = builder.toolset::<Counter>(params).build().await.expect("a pool");
    assert_eq!(text(&pool, "counter.count", "").await, "40");
}

#[tokio::test]
async fn a_second_toolset_of_a_type_collides_and_names_both() {
    let error = ToolPool::builder()
        .toolset::<Counter>(CounterParams::default())
        .toolset::<Counter>(CounterParams::default())
        .build()
        .await
        .expect_err("two counters");
    assert_eq!(error.problems().len(), 3, "{error}");
    assert!(
        error.to_string().contains("two values of one toolset have a tool `counter.add`"),
        "{error}"
    );
}

/// How the next value behaves, and what happened to values, in order.
#[derive(Clone)]
struct Probe {
    events: UnboundedSender<&'static str>,
    behaviour: Behaviour,
    /// A pool that is asked when the value ends.
    pool: Arc<Mutex<Option<ToolPool>>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Behaviour {
    #[default]
    Fine,
    CreateFails,
    CreatePanics,
    Unusable,
    CheckPanics,
    /// Calls go on until they are interrupted, and interrupting panics then.
    InterruptPanics,
    ClosePanics,
}

impl Probe {
    fn new(behaviour: Behaviour) -> (Self, UnboundedReceiver<&'static str>) {
        let (events, received) = unbounded_channel();
        (Self { events, behaviour, pool: Arc::default() }, received)
    }

    fn tell(&self, event: &'static str) {
        let _ = self.events.send(event);
    }
}

/// What reaches a toolset by no configuration: it decodes to nothing useful.
#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
struct ProbeParams {
    #[serde(skip)]
    #[schemars(skip)]
    probe: Option<Probe>,
}

struct Session {
    probe: Probe,
    interrupted: Notify,
}

#[toolset(register = false)]
impl Session {
    /// Work until interrupted, and say so.
    #[tool]
    async fn work(&self) -> &'static str {
        self.probe.tell("work");
        self.interrupted.notified().await;
        "interrupted"
    }

    /// Work whatever happens.
    #[tool]
    async fn persist(&self) {
        let _ended = Ended(&self.probe, "persist dropped");
        self.probe.tell("work");
        std::future::pending::<()>().await;
    }

    /// Work with a limit of its own.
    #[tool(timeout = "1m")]
    async fn hurry(&self) {
        self.probe.tell("work");
        std::future::pending::<()>().await;
    }

    /// Panic.
    #[tool]
    async fn boom(&self) {
        panic!("boom");
    }

    /// Answer at once.
    #[tool(read_only)]
    async fn ping(&self) -> &'static str {
        "pong"
    }
}

struct Ended<'a>(&'a Probe, &'static str);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.tell(self.1);
    }
}

impl Toolset for Session {
    type Params = ProbeParams;

    async fn create(params: ProbeParams, _: &ToolContext) -> Result<Self, ToolError> {
        let probe = params.probe.expect("given by the test");
        match probe.behaviour {
            Behaviour::CreateFails => Err(ToolError::user("no such shell")),
            Behaviour::CreatePanics => panic!("create"),
            _ => Ok(Self { probe, interrupted: Notify::new() }),
        }
    }

    async fn close(&self) {
        tokio::task::yield_now().await;
        let pool = self.probe.pool.lock().expect("no panic").take();
        if let Some(pool) = pool {
            let _ = (pool.report(), pool.tools());
            let _ = pool.add_tools(&Source::owner("close"), []);
            drop(pool.restrict(["*"]));
        }
        self.probe.tell("closed");
        assert!(self.probe.behaviour != Behaviour::ClosePanics, "close");
    }

    fn interrupt(&self, call: &ToolContext) {
        self.probe.tell(if call.call_id() == Some("c1") { "interrupt c1" } else { "interrupt" });
        self.interrupted.notify_waiters();
        assert!(self.probe.behaviour != Behaviour::InterruptPanics, "interrupt");
    }

    fn is_usable(params: &ProbeParams) -> Result<(), String> {
        match params.probe.as_ref().map(|probe| probe.behaviour) {
            Some(Behaviour::Unusable) => Err("`tmux` is not installed".to_owned()),
            Some(Behaviour::CheckPanics) => panic!("check"),
            _ => Ok(()),
        }
    }
}

async fn build(probe: Probe) -> Result<ToolPool, PoolError> {
    let params = ProbeParams { probe: Some(probe) };
    ToolPool::builder().toolset::<Session>(params).build().await
}

/// A pool over one session, and what becomes of it.
async fn session(behaviour: Behaviour) -> (ToolPool, UnboundedReceiver<&'static str>) {
    let (probe, events) = Probe::new(behaviour);
    (build(probe).await.expect("a pool"), events)
}

/// Everything that is told until nobody can tell anything any more.
async fn rest(mut events: UnboundedReceiver<&'static str>) -> Vec<&'static str> {
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        all.push(event);
    }
    all
}

fn told(events: &mut UnboundedReceiver<&'static str>) -> Vec<&'static str> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

fn in_background(pool: &ToolPool, call: ToolCall) -> tokio::task::JoinHandle<ToolResult> {
    let pool = pool.clone();
    tokio::spawn(async move { pool.call(call).await })
}

#[tokio::test]
async fn a_toolset_that_cannot_be_made_fails_the_build_with_its_name_and_reason() {
    for (behaviour, reason) in [
        (Behaviour::CreateFails, "no such shell"),
        (Behaviour::CreatePanics, "`create` panicked: create"),
    ] {
        let error = build(Probe::new(behaviour).0).await.expect_err("not made");
        assert_eq!(error.to_string().lines().last(), Some(&*format!("- `session`: {reason}")));
        assert!(matches!(error.problems(), [PoolProblem::Unmade { .. }]), "{error}");
    }
}

#[tokio::test]
async fn a_toolset_of_a_pool_that_is_not_built_is_closed() {
    let (probe, events) = Probe::new(Behaviour::Fine);
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    assert!(builder.allow(["["]).build().await.is_err());
    assert_eq!(rest(events).await, ["closed"]);
}

#[tokio::test]
async fn what_is_not_usable_is_hidden_with_the_reason() {
    for (behaviour, reason) in [
        (Behaviour::Unusable, "`tmux` is not installed"),
        (Behaviour::CheckPanics, "its `is_usable` panicked"),
    ] {
        let (pool, _) = session(behaviour).await;
        assert!(pool.tools().is_empty());
        let report = pool.report();
        assert_eq!(report.tools.len(), 5);
        for tool in &report.tools {
            assert_eq!(tool.status, ToolStatus::Unusable { reason: reason.to_owned() });
        }
        assert!(report.to_string().contains(&format!("unusable: {reason}")), "{report}");
        let answer = refusal(&pool, "session.ping", "").await;
        assert_eq!(answer, "unknown tool `session.ping`; there are no tools");
    }
}

#[tokio::test]
async fn closing_a_pool_closes_its_toolsets_once() {
    let (pool, events) = session(Behaviour::Fine).await;
    pool.close().await;
    pool.close().await;
    let clone = pool.clone();
    assert_eq!(refusal(&clone, "session.ping", "").await, "the tools have been shut down");
    let result = clone.call(ToolCall::new("session.ping", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    drop((pool, clone));
    assert_eq!(rest(events).await, ["closed"]);
}

#[tokio::test]
async fn a_panic_in_close_keeps_nobody_else_from_closing() {
    let (broken, mut broken_events) = Probe::new(Behaviour::ClosePanics);
    let broken = ProbeParams { probe: Some(broken) };
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let pool = ToolPool::builder()
        .toolset::<Session>(broken)
        .toolset::<Other>(OtherParams { probe: Some(probe) })
        .build()
        .await
        .expect("a pool");
    pool.close().await;
    assert_eq!((told(&mut broken_events), told(&mut events)), (vec!["closed"], vec!["closed"]));
}

/// A second type, so that two values fit into one pool.
struct Other(Probe);

#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
struct OtherParams {
    #[serde(skip)]
    #[schemars(skip)]
    probe: Option<Probe>,
}

#[toolset(register = false, prefix = "another")]
impl Other {
    /// Answer at once.
    #[tool(read_only)]
    async fn ping(&self) -> &'static str {
        "pong"
    }
}

impl Toolset for Other {
    type Params = OtherParams;

    async fn create(params: OtherParams, _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(params.probe.expect("given by the test")))
    }

    async fn close(&self) {
        self.0.tell("closed");
    }
}

#[tokio::test]
async fn dropping_the_last_handle_inside_a_runtime_closes() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let scope = pool.scope();
    drop(pool);
    assert_eq!(told(&mut events), [""; 0]);
    drop(scope);
    assert_eq!(rest(events).await, ["closed"]);
}

#[test]
fn dropping_outside_of_a_runtime_closes_before_it_returns() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let (pool, mut events) = runtime.block_on(session(Behaviour::Fine));
    drop(runtime);
    drop(pool);
    assert_eq!(told(&mut events), ["closed"]);
}

#[test]
fn dropping_while_the_runtime_shuts_down_closes() {
    let current = || Builder::new_current_thread();
    let many = || Builder::new_multi_thread();
    for mut builder in [current(), many()] {
        let runtime = builder.enable_all().build().expect("a runtime");
        let (pool, mut events) = runtime.block_on(session(Behaviour::Fine));
        let is_held = Arc::new(Notify::new());
        let held = Arc::clone(&is_held);
        runtime.spawn(async move {
            let _pool = pool;
            held.notify_one();
            std::future::pending::<()>().await;
        });
        runtime.block_on(in_time(is_held.notified()));
        drop(runtime);
        assert_eq!(told(&mut events), ["closed"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_close_that_is_given_up_closes_all_the_same() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    // The call does not end for being interrupted: this is given up while it is waited for.
    let closing = tokio::time::timeout(Duration::from_secs(1), pool.close());
    assert!(closing.await.is_err());
    call.abort();
    let _ = call.await;
    drop(pool);
    let events = rest(events).await;
    assert_eq!(events.iter().filter(|event| **event == "closed").count(), 1, "{events:?}");
}

#[tokio::test]
async fn closing_interrupts_what_runs_and_waits_for_it() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.work", "").with_call_id("c1"));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    pool.close().await;
    assert_eq!(told(&mut events), ["interrupt c1", "closed"]);
    assert_eq!(call.await.expect("no panic").observation().to_text(), "interrupted");
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_no_call_for_ever() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    let started = tokio::time::Instant::now();
    pool.close().await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    let told = told(&mut events);
    assert_eq!(told, ["interrupt", "persist dropped", "interrupt", "closed"]);
    let ended = call.await.expect("no panic");
    assert_eq!(ended.error().expect("an error").class(), ErrorClass::Cancelled);
}

#[test]
fn closing_on_a_runtime_without_timers_does_not_panic() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let (pool, mut events) = session(Behaviour::Fine).await;
        let call = in_background(&pool, ToolCall::new("session.work", ""));
        assert_eq!(limited(events.recv()).await, Some("work"));
        pool.close().await;
        assert_eq!(told(&mut events), ["interrupt", "closed"]);
        assert!(!call.await.expect("no panic").is_error());
    });
}

#[tokio::test]
async fn a_call_that_waited_while_the_pool_closed_does_not_run_on_a_closed_value() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (Arc::clone(&asked), Arc::clone(&go));
    let hook = tool_runtime::Hook::before("session.*", move |_: tool_runtime::HookCall| {
        let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
        async move {
            tell.notify_one();
            wait.notified().await;
            Ok::<_, ToolError>(tool_runtime::Before::proceed())
        }
    });
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    let pool = builder.hook(hook).build().await.expect("a pool");
    let call = in_background(&pool, ToolCall::new("session.work", ""));
    in_time(asked.notified()).await;
    pool.close().await;
    go.notify_one();
    let result = call.await.expect("no panic");
    assert_eq!(result.observation().to_text(), "the tools have been shut down");
    assert_eq!(told(&mut events), ["closed"]);
}

#[tokio::test]
async fn a_cancelled_call_is_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone()).with_call_id("c1");
    let call = pool.call_with(ToolCall::new("session.persist", ""), &context);
    let cancel = async {
        assert_eq!(in_time(events.recv()).await, Some("work"));
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    assert_eq!(told(&mut events), ["persist dropped", "interrupt c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_out_of_time_is_interrupted_also_a_typed_one() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let result = pool.call(ToolCall::new("session.hurry", "").with_call_id("c1")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
    assert_eq!(told(&mut events), ["work", "interrupt c1"]);
    let error = SessionHurryAction {}.call(&pool).await.expect_err("too slow");
    assert_eq!(error.class(), ErrorClass::Timeout);
    assert_eq!(told(&mut events), ["work", "interrupt"]);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", "").with_call_id("c1"));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    call.abort();
    assert!(call.await.is_err());
    assert_eq!(told(&mut events), ["persist dropped", "interrupt c1"]);
}

#[tokio::test]
async fn a_call_that_ends_by_itself_is_not_interrupted() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    assert_eq!(told(&mut events), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_interrupt_costs_nobody_a_result() {
    let (pool, mut events) = session(Behaviour::InterruptPanics).await;
    let result = pool.call(ToolCall::new("session.hurry", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
    // Of a method that panics itself, interrupting comes while the stack unwinds.
    let result = pool.call(ToolCall::new("session.boom", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Internal);
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    told(&mut events);
    let call = in_background(&pool, ToolCall::new("session.work", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    pool.close().await;
    assert_eq!(told(&mut events), ["interrupt", "closed"]);
    assert!(!call.await.expect("no panic").is_error());
}

#[tokio::test]
async fn a_toolset_whose_last_tool_is_removed_closes_when_its_calls_have_ended() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let other = pool.clone();
    let call = tokio::spawn(async move {
        other.call_with(ToolCall::new("session.persist", ""), &context).await
    });
    assert_eq!(in_time(events.recv()).await, Some("work"));
    let remove = |pattern: &str| {
        let pattern = pattern.parse().expect("a pattern");
        pool.remove_tools(&Source::Custom, &pattern).expect("its own")
    };
    remove("session.p*");
    remove("*");
    assert!(pool.tools().is_empty());
    tokio::task::yield_now().await;
    assert_eq!(told(&mut events), [""; 0]);
    token.cancel();
    assert!(call.await.expect("no panic").is_error());
    assert_eq!(rest(events).await, ["persist dropped", "interrupt", "closed"]);
}

/// Everything that could keep a removed tool alive: a long call of another tool, restrictions
/// in force and past, in scopes that nobody looks at.
#[tokio::test]
async fn nothing_but_its_own_calls_keeps_a_removed_toolset_open() {
    let (probe, events) = Probe::new(Behaviour::Fine);
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (Arc::clone(&started), Arc::clone(&go));
    let slow = Tool::builder("slow", "Wait.").handler(move || {
        let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
        async move {
            tell.notify_one();
            wait.notified().await;
        }
    });
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    let pool = builder.add(slow).build().await.expect("a pool");
    let (past, narrowed) = (pool.scope(), pool.scope().scope());
    drop(past.restrict(["session.*"]).expect("patterns"));
    let _guard = narrowed.restrict(["*"]).expect("patterns");
    assert_eq!((past.tools().len(), narrowed.tools().len()), (6, 6));
    let call = in_background(&pool, ToolCall::new("slow", ""));
    in_time(started.notified()).await;
    pool.remove_tools(&Source::Custom, &"session.*".parse().expect("a pattern")).expect("its own");
    assert_eq!(rest(events).await, ["closed"]);
    go.notify_one();
    assert!(!call.await.expect("no panic").is_error());
}

#[test]
fn what_closes_may_ask_and_change_the_pool_that_removed_it() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let asked = Arc::clone(&probe.pool);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let pool = runtime.block_on(build(probe)).expect("a pool");
    drop(runtime);
    *asked.lock().expect("no panic") = Some(pool.clone());
    // Without a runtime this waits until the value is closed.
    pool.remove_tools(&Source::Custom, &"*".parse().expect("a pattern")).expect("its own");
    assert_eq!(told(&mut events), ["closed"]);
}

#[test]
fn what_is_refused_closes_and_may_ask_the_pool() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let asked = Arc::clone(&probe.pool);
    let ping = Tool::builder("session.ping", "Answer.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(ping).build().expect("a pool");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let tools = runtime.block_on(build(probe)).expect("a pool").tools();
    // The pool that made them is gone, its tools are not.
    *asked.lock().expect("no panic") = Some(pool.clone());
    drop(runtime);
    assert!(pool.add_tools(&Source::owner("late"), tools).is_err());
    assert_eq!(told(&mut events), ["closed"]);
    assert_eq!(pool.tools().len(), 1);
}

#[tokio::test]
async fn tools_taken_out_of_a_pool_outlive_it() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let tools = pool.tools();
    drop(pool);
    let pool = ToolPool::builder().add_from(&Source::Custom, tools).build().expect("a pool");
    assert_eq!(text(&pool, "session.ping", "").await, "pong");
    assert_eq!(told(&mut events), [""; 0]);
    drop(pool);
    assert_eq!(rest(events).await, ["closed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_is_closed_once_however_many_end_it_at_once() {
    for _ in 0..50 {
        let (pool, events) = session(Behaviour::Fine).await;
        let ends: Vec<_> = (0..4)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move {
                    pool.close().await;
                })
            })
            .collect();
        drop(pool);
        for end in ends {
            end.await.expect("no panic");
        }
        assert_eq!(rest(events).await, ["closed"]);
    }
}

struct Endless;

#[toolset(register = false)]
impl Endless {
    /// Wait for ever.
    #[tool]
    async fn hang(&self, started: &Notify) {
        started.notify_one();
        std::future::pending::<()>().await;
    }
}

impl Toolset for Endless {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }

    async fn close(&self) {
        std::future::pending::<()>().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_and_an_end_that_never_come_hold_nobody_up() {
    let client = ClientTools::new(Duration::from_secs(3600));
    let pool = ToolPool::builder()
        .toolset::<Endless>(())
        .add(client.tool(ToolDefinition::new("asked", "Ask the host.")))
        .state(Notify::new())
        .build()
        .await
        .expect("a pool");
    let call = |name: &'static str| {
        let pool = pool.clone();
        tokio::spawn(async move { pool.call(ToolCall::new(name, "")).await })
    };
    let (hang, host) = (call("endless.hang"), call("asked"));
    let taken = in_time(client.next()).await;
    pool.context().get::<Notify>().expect("state").notified().await;
    pool.close().await;
    for ended in [hang.await.expect("a result"), host.await.expect("a result")] {
        assert_eq!(ended.error().expect("an error").class(), ErrorClass::Cancelled);
    }
    assert!(!client.is_pending(taken.id()));
}
