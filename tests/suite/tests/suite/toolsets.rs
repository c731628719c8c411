//! Toolsets from creation to close, through a pool.

mod closing;
mod counter;
mod creation;
mod interrupting;
mod removal;

use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tool_runtime::pool::{PoolError, Source};
use tool_runtime::prelude::*;

/// The behaviour of the next value, and the events of all values in order.
#[derive(Clone)]
struct Probe {
    events: UnboundedSender<&'static str>,
    behaviour: Behaviour,
    /// A pool that `close` calls.
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
    /// Calls run until interrupted, and `interrupt` panics.
    InterruptPanics,
    ClosePanics,
}

impl Probe {
    fn new(behaviour: Behaviour) -> (Self, UnboundedReceiver<&'static str>) {
        let (events, received) = unbounded_channel();
        (Self { events, behaviour, pool: Arc::default() }, received)
    }

    fn send(&self, event: &'static str) {
        let _ = self.events.send(event);
    }
}

/// A parameter that cannot come from a configuration: it never decodes.
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
    /// Work until interrupted, and record the interruption.
    #[tool]
    async fn work(&self) -> &'static str {
        self.probe.send("work");
        self.interrupted.notified().await;
        "interrupted"
    }

    /// Work, ignoring interruptions.
    #[tool]
    async fn persist(&self) {
        let _ended = Ended(&self.probe, "persist dropped");
        self.probe.send("work");
        std::future::pending::<()>().await;
    }

    /// Work with a time limit of the tool.
    #[tool(timeout = "1m")]
    async fn work_with_timeout(&self) {
        self.probe.send("work");
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
        self.0.send(self.1);
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
        self.probe.send("closed");
        assert!(self.probe.behaviour != Behaviour::ClosePanics, "close");
    }

    fn interrupt(&self, call: &ToolContext) {
        self.probe.send(if call.call_id() == Some("c1") { "interrupt c1" } else { "interrupt" });
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

/// A pool with one session, and its events.
async fn session(behaviour: Behaviour) -> (ToolPool, UnboundedReceiver<&'static str>) {
    let (probe, events) = Probe::new(behaviour);
    (build(probe).await.expect("a pool"), events)
}

/// All events until every sender is dropped.
async fn rest(mut events: UnboundedReceiver<&'static str>) -> Vec<&'static str> {
    let mut received = Vec::new();
    while let Some(event) = events.recv().await {
        received.push(event);
    }
    received
}

fn drain(events: &mut UnboundedReceiver<&'static str>) -> Vec<&'static str> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

fn in_background(pool: &ToolPool, call: ToolCall) -> tokio::task::JoinHandle<ToolResult> {
    let pool = pool.clone();
    tokio::spawn(async move { pool.call(call).await })
}
