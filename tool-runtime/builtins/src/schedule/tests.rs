//! A schedule on a manual clock, and a pool with a host.

mod deliveries;
mod hosts;
mod jobs;
mod processes;
mod properties;
mod settings;

use super::{Schedule, ScheduleBuilder, ScheduleEvent, ScheduleHost};
use crate::{Builtins, Workspace};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::panic::Location;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::prelude::*;

/// Monday, shortly before eight.
const BEGINNING: &str = "2026-06-01T07:59:30Z";

/// A clock that tests set.
#[derive(Clone)]
struct Time(Arc<AtomicI64>);

impl Time {
    fn at(text: &str) -> Self {
        Self(Arc::new(AtomicI64::new(text.parse::<Timestamp>().unwrap().as_second())))
    }

    fn set(&self, text: &str) {
        self.0.store(text.parse::<Timestamp>().unwrap().as_second(), Ordering::SeqCst);
    }

    fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn workspace(&self) -> Workspace {
        let time = Arc::clone(&self.0);
        let clock = move || Timestamp::from_second(time.load(Ordering::SeqCst)).unwrap().into();
        Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).clock(clock).build().unwrap()
    }
}

/// The notes that the tool `note` took.
type Notes = Arc<Mutex<Vec<String>>>;

/// A tool that notes its argument and who called it.
fn note(notes: &Notes) -> Tool {
    let notes = Arc::clone(notes);
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } },
        "required": ["text"], "additionalProperties": false });
    Tool::builder("note", "Take a note.").input_schema(schema.as_object().unwrap().clone()).handler(
        move |arguments: serde_json::Map<String, Value>, context: ToolContext| {
            let text =
                format!("{}: {}", context.principal().id(), arguments["text"].as_str().unwrap());
            notes.lock().unwrap().push(text);
            async { "noted" }
        },
    )
}

/// A schedule and a pool.
struct Setup {
    time: Time,
    notes: Notes,
    schedule: Schedule,
    pool: ToolPool,
}

impl Setup {
    fn new() -> Self {
        Self::with(|builder| builder, |pool| pool)
    }

    fn with(
        configure: impl FnOnce(ScheduleBuilder) -> ScheduleBuilder,
        add: impl FnOnce(
            ToolPoolBuilder<tool_runtime::pool::WithoutToolsets>,
        ) -> ToolPoolBuilder<tool_runtime::pool::WithoutToolsets>,
    ) -> Self {
        let (time, notes) = (Time::at(BEGINNING), Notes::default());
        let workspace = time.workspace();
        let schedule = configure(Schedule::builder(&workspace)).open().unwrap();
        let builtins = Builtins::new(workspace).schedule(&schedule);
        let pool = add(ToolPool::builder().add(note(&notes)).install(builtins)).build().unwrap();
        Self { time, notes, schedule, pool }
    }

    fn host(&self) -> (ScheduleHost, Arc<Mutex<Vec<ScheduleEvent>>>) {
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&events);
        let host = self.schedule.host(&self.pool);
        (host.on_event(move |event| sink.lock().unwrap().push(event.clone())), events)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    /// A job that notes `text` at the full minutes.
    async fn minutely(&self, more: Value) -> Value {
        let mut job = json!({ "name": "minutely", "schedule": "* * * * *", "tool": "note",
            "arguments": { "text": "hello" } });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value(&self.pool, "CronCreate", job).await
    }

    async fn list(&self) -> Value {
        value(&self.pool, "CronList", json!({})).await
    }

    /// States and due times of the runs of the first job, the newest first.
    async fn runs(&self) -> Vec<String> {
        let list = self.list().await;
        let runs = list["jobs"][0]["runs"].as_array().unwrap().clone();
        let run = |run: &Value| {
            let due = run["due"].as_str().unwrap();
            format!("{} {} x{}", run["state"].as_str().unwrap(), &due[11..16], run["times"])
        };
        runs.iter().map(run).collect()
    }
}

async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::json(tool, arguments)).await
}

/// The structured value of a result that is not an error.
#[track_caller]
fn value(pool: &ToolPool, tool: &str, arguments: Value) -> impl Future<Output = Value> {
    let observation = observe(pool, tool, arguments, false);
    async { observation.await.structured().unwrap().clone() }
}

/// The text of an error.
#[track_caller]
fn error(pool: &ToolPool, tool: &str, arguments: Value) -> impl Future<Output = String> {
    let observation = observe(pool, tool, arguments, true);
    async { observation.await.to_text() }
}

/// The result of a call. A panic names the test that called.
#[track_caller]
fn observe(
    pool: &ToolPool,
    tool: &str,
    arguments: Value,
    is_error: bool,
) -> impl Future<Output = Observation> {
    let caller = Location::caller();
    async move {
        let observation = call(pool, tool, arguments).await.observation().clone();
        assert_eq!(observation.is_error(), is_error, "{caller}: {}", observation.to_text());
        observation
    }
}
