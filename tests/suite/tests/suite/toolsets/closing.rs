//! Closing toolsets with their pool.

use super::super::support::{error_text, in_time};
use super::{Behaviour, Probe, ProbeParams, Session, drain, in_background, rest, session};
use std::sync::Arc;
use std::time::Duration;
use suite::limit::limited;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tool_runtime::prelude::*;
use tool_runtime::tool::ClientTools;

#[tokio::test]
async fn closing_a_pool_closes_its_toolsets_once() {
    let (pool, events) = session(Behaviour::Fine).await;
    pool.close().await;
    pool.close().await;
    let clone = pool.clone();
    assert_eq!(error_text(&clone, "session.ping", "").await, "the tools have been shut down");
    let result = clone.call(ToolCall::new("session.ping", "")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    drop((pool, clone));
    assert_eq!(rest(events).await, ["closed"]);
}

#[tokio::test]
async fn other_toolsets_close_after_a_panic_in_close() {
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
    assert_eq!((drain(&mut broken_events), drain(&mut events)), (vec!["closed"], vec!["closed"]));
}

/// A second type, so that one pool can hold two values.
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
        self.0.send("closed");
    }
}

#[tokio::test]
async fn dropping_the_last_handle_inside_a_runtime_closes() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let scope = pool.scope();
    drop(pool);
    assert_eq!(drain(&mut events), [""; 0]);
    drop(scope);
    assert_eq!(rest(events).await, ["closed"]);
}

#[test]
fn dropping_outside_of_a_runtime_closes_before_it_returns() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let (pool, mut events) = runtime.block_on(session(Behaviour::Fine));
    drop(runtime);
    drop(pool);
    assert_eq!(drain(&mut events), ["closed"]);
}

#[test]
fn dropping_while_the_runtime_shuts_down_closes() {
    let current = || Builder::new_current_thread();
    let many = || Builder::new_multi_thread();
    for mut builder in [current(), many()] {
        let runtime = builder.enable_all().build().expect("a runtime");
        let (pool, mut events) = runtime.block_on(session(Behaviour::Fine));
        let is_held = Arc::new(Notify::new());
        let notify = Arc::clone(&is_held);
        runtime.spawn(async move {
            let _pool = pool;
            notify.notify_one();
            std::future::pending::<()>().await;
        });
        runtime.block_on(in_time(is_held.notified()));
        drop(runtime);
        assert_eq!(drain(&mut events), ["closed"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_close_still_closes() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    // Interrupting does not end the call; waiting for it is abandoned.
    let closing = tokio::time::timeout(Duration::from_secs(1), pool.close());
    assert!(closing.await.is_err());
    call.abort();
    let _ = call.await;
    drop(pool);
    let events = rest(events).await;
    assert_eq!(events.iter().filter(|event| **event == "closed").count(), 1, "{events:?}");
}

#[tokio::test]
async fn closing_interrupts_running_calls_and_waits_for_them() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.work", "").with_call_id("c1"));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    pool.close().await;
    assert_eq!(drain(&mut events), ["interrupt c1", "closed"]);
    assert_eq!(call.await.expect("no panic").observation().to_text(), "interrupted");
}

#[tokio::test(start_paused = true)]
async fn closing_drops_calls_after_five_seconds() {
    let (pool, mut events) = session(Behaviour::Fine).await;
    let call = in_background(&pool, ToolCall::new("session.persist", ""));
    assert_eq!(in_time(events.recv()).await, Some("work"));
    let started = tokio::time::Instant::now();
    pool.close().await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    let drain = drain(&mut events);
    assert_eq!(drain, ["interrupt", "persist dropped", "interrupt", "closed"]);
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
        assert_eq!(drain(&mut events), ["interrupt", "closed"]);
        assert!(!call.await.expect("no panic").is_error());
    });
}

#[tokio::test]
async fn a_call_that_waits_while_the_pool_closes_does_not_run() {
    let (probe, mut events) = Probe::new(Behaviour::Fine);
    let (hook_runs, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (started, wait) = (Arc::clone(&hook_runs), Arc::clone(&release));
    let hook =
        tool_runtime::hook::Hook::before("session.*", move |_: tool_runtime::hook::HookCall| {
            let (started, wait) = (Arc::clone(&started), Arc::clone(&wait));
            async move {
                started.notify_one();
                wait.notified().await;
                Ok::<_, ToolError>(tool_runtime::hook::Before::proceed())
            }
        });
    let params = ProbeParams { probe: Some(probe) };
    let builder = ToolPool::builder().toolset::<Session>(params);
    let pool = builder.hook(hook).build().await.expect("a pool");
    let call = in_background(&pool, ToolCall::new("session.work", ""));
    in_time(hook_runs.notified()).await;
    pool.close().await;
    release.notify_one();
    let result = call.await.expect("no panic");
    assert_eq!(result.observation().to_text(), "the tools have been shut down");
    assert_eq!(drain(&mut events), ["closed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_closes_close_a_value_once() {
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
    /// Wait forever.
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
async fn closing_ends_calls_and_closes_that_never_finish() {
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
    let call = in_time(client.next()).await;
    pool.context().get::<Notify>().expect("state").notified().await;
    pool.close().await;
    for ended in [hang.await.expect("a result"), host.await.expect("a result")] {
        assert_eq!(ended.error().expect("an error").class(), ErrorClass::Cancelled);
    }
    assert!(!client.is_pending(call.id()));
}
