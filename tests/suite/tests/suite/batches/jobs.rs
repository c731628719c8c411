//! Calls whose arguments declare their keys, their duration and their nested calls.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::prelude::*;

/// The arguments of every tool here.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Job {
    /// Number of the job.
    pub(super) id: usize,
    /// Duration before the nested calls, and again after them.
    pub(super) millis: u64,
    /// Keys that it reads.
    pub(super) reads: Vec<String>,
    /// Keys that it writes.
    pub(super) writes: Vec<String>,
    /// Nested calls.
    pub(super) calls: Vec<Nested>,
}

/// A call that a job makes.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Nested {
    /// The tool.
    pub(super) tool: AccessKind,
    /// Its arguments.
    pub(super) job: Job,
}

/// Declared access of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AccessKind {
    /// Read-only, without declared keys.
    ReadOnly,
    /// Unknown access.
    Undeclared,
    /// Declared keys.
    Keyed,
}

/// Read something.
#[tool(read_only, register = false)]
async fn read_only_job(#[arg(flatten)] job: Job, context: &ToolContext) -> String {
    work(job, context).await
}

/// Change something.
#[tool(register = false)]
async fn undeclared_job(#[arg(flatten)] job: Job, context: &ToolContext) -> String {
    work(job, context).await
}

/// Use the keys in the arguments.
#[tool(register = false, access = keys)]
async fn keyed_job(#[arg(flatten)] job: Job, context: &ToolContext) -> String {
    work(job, context).await
}

fn keys(action: &KeyedJobAction) -> tool_runtime::Access {
    let access = tool_runtime::Access::none();
    let access = action.job.reads.iter().fold(access, |access, key| access.read(key));
    action.job.writes.iter().fold(access, |access, key| access.write(key))
}

async fn work(job: Job, context: &ToolContext) -> String {
    let log = context.get::<Log>().expect("a log");
    let _running = log.enter(job.id);
    tokio::time::sleep(Duration::from_millis(job.millis)).await;
    if !job.calls.is_empty() {
        let results = context.call_all(job.calls.iter().map(Nested::call)).await;
        log.collect(&job.calls, results);
        tokio::time::sleep(Duration::from_millis(job.millis)).await;
    }
    format!("did {}", job.id)
}

impl Job {
    pub(super) fn new(id: usize, millis: u64) -> Self {
        Self { id, millis, ..Self::default() }
    }

    pub(super) fn reading(mut self, key: &str) -> Self {
        self.reads.push(key.to_owned());
        self
    }

    pub(super) fn writing(mut self, key: &str) -> Self {
        self.writes.push(key.to_owned());
        self
    }

    pub(super) fn calling(mut self, calls: impl IntoIterator<Item = Nested>) -> Self {
        self.calls.extend(calls);
        self
    }

    pub(super) fn read_only_job(self) -> Nested {
        Nested { tool: AccessKind::ReadOnly, job: self }
    }

    pub(super) fn undeclared_job(self) -> Nested {
        Nested { tool: AccessKind::Undeclared, job: self }
    }

    pub(super) fn keyed_job(self) -> Nested {
        Nested { tool: AccessKind::Keyed, job: self }
    }
}

impl Nested {
    pub(super) fn call(&self) -> ToolCall {
        let name = match self.tool {
            AccessKind::ReadOnly => "read_only_job",
            AccessKind::Undeclared => "undeclared_job",
            AccessKind::Keyed => "keyed_job",
        };
        let arguments = serde_json::to_string(&self.job).expect("JSON");
        ToolCall::new(name, arguments).with_call_id(self.job.id.to_string())
    }
}

/// Starts and ends of calls, in order.
#[derive(Default)]
pub(super) struct Log(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    steps: usize,
    spans: HashMap<usize, (usize, Option<usize>)>,
    results: HashMap<usize, ToolResult>,
    violations: Vec<String>,
}

impl Log {
    fn enter(&self, id: usize) -> impl Drop {
        let begun = |entries: &mut Entries, step| {
            if entries.spans.insert(id, (step, None)).is_some() {
                entries.violations.push(format!("{id} ran twice"));
            }
        };
        self.step(begun);
        OnDrop(move || {
            self.step(|entries, step| entries.spans.get_mut(&id).unwrap().1 = Some(step));
        })
    }

    fn step(&self, record: impl FnOnce(&mut Entries, usize)) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.steps += 1;
        let step = entries.steps;
        record(&mut entries, step);
    }

    /// Records the results of a batch, one per call, in call order.
    pub(super) fn collect(&self, calls: &[Nested], results: Vec<ToolResult>) {
        self.step(|entries, _| {
            let ids: Vec<&str> = results.iter().map(ToolResult::call_id).collect();
            let expected: Vec<String> = calls.iter().map(|call| call.job.id.to_string()).collect();
            if ids != expected {
                entries.violations.push(format!("{ids:?} instead of {expected:?}"));
            }
            let ids = calls.iter().map(|call| call.job.id);
            entries.results.extend(ids.zip(results));
        });
    }

    /// First and last step of a call; `None` if the call never began.
    pub(super) fn span(&self, id: usize) -> Option<(usize, usize)> {
        let entries = self.0.lock().expect("no panic");
        let (begin, end) = *entries.spans.get(&id)?;
        Some((begin, end.expect("what began has ended")))
    }

    /// The outcome of a call whose result was received: the class of its error, or none if it succeeded.
    pub(super) fn outcome(&self, id: usize) -> Option<Option<ErrorClass>> {
        let entries = self.0.lock().expect("no panic");
        Some(entries.results.get(&id)?.error().map(|error| error.class()))
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.0.lock().expect("no panic").violations.clone()
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Created once and shared by thousands of pools.
static TOOLS: LazyLock<[Tool; 3]> = LazyLock::new(|| {
    [
        Tool::from_action::<ReadOnlyJobAction>(),
        Tool::from_action::<UndeclaredJobAction>(),
        Tool::from_action::<KeyedJobAction>(),
    ]
});

pub(super) fn builder() -> ToolPoolBuilder {
    TOOLS.iter().cloned().fold(ToolPool::builder().state(Log::default()), ToolPoolBuilder::add)
}

pub(super) fn pool() -> ToolPool {
    builder().build().expect("a pool")
}

pub(super) fn span(pool: &ToolPool, id: usize) -> (usize, usize) {
    let context = pool.context();
    context.get::<Log>().expect("a log").span(id).unwrap_or_else(|| panic!("{id} never began"))
}

/// Whether one call ended before the other began.
pub(super) fn is_before(pool: &ToolPool, first: usize, second: usize) -> bool {
    span(pool, first).1 < span(pool, second).0
}

pub(super) fn overlap(pool: &ToolPool, a: usize, b: usize) -> bool {
    !is_before(pool, a, b) && !is_before(pool, b, a)
}
