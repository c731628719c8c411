//! A pool with one tool and hooks, the stages before and after the tool, and a log that can be read.

use crate::dispatch::stage;
use crate::govern::Step;
use crate::govern::approval::Approver;
use crate::govern::hook::{Hook, HookCall};
use crate::pool::{ToolPool, ToolPoolBuilder};
use crate::tool::arguments::Arguments;
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::{DecodedCall, Executor, Tool};
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Event, Metadata, Subscriber};

pub(super) const ARGUMENTS: &str = r#"{"path":"a.txt"}"#;
pub(super) const TOOK: Duration = Duration::from_millis(7);

/// A tool that rejects arguments that are not JSON.
struct Read;

impl Executor for Read {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async { Ok(Observation::text("text")) })
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        match arguments.parse::<serde_json::Value>() {
            Ok(_) => Ok(Access::undeclared()),
            Err(_) => {
                Err(CallError::new(ErrorClass::Input, format!("no JSON: {}", arguments.as_str())))
            }
        }
    }
}

pub(super) fn pool(list: impl IntoIterator<Item = Hook>) -> ToolPool {
    builder(read(), list).build().expect("a pool")
}

fn read() -> Tool {
    Tool::new(ToolDefinition::new("fs.read", "Read a file."), Read)
}

pub(super) fn builder(tool: Tool, list: impl IntoIterator<Item = Hook>) -> ToolPoolBuilder {
    list.into_iter().fold(ToolPool::builder().add(tool), |it, hook| it.hook(hook))
}

/// A call of the tool of the pool.
pub(super) fn call(pool: &ToolPool, arguments: &str, context: ToolContext) -> HookCall {
    let name = pool.tools()[0].name().to_owned();
    HookCall::new(pool.find(&name).expect("a tool"), arguments, context)
}

fn context() -> ToolContext {
    ToolContext::default().with_call_id("call_1")
}

/// The changes of hooks and the approver to a call that may run.
#[derive(Debug)]
pub(super) struct Admitted {
    /// The arguments, if they were rewritten.
    pub(super) arguments: Option<String>,
    /// The context, if something was provided.
    pub(super) context: Option<ToolContext>,
}

/// Asks the hooks before a call, then the approver.
pub(super) async fn admit(pool: &ToolPool, call: HookCall) -> Result<Admitted, CallError> {
    let mut step = Step::propose(Arc::default(), call.clone());
    let mut decoded = DecodedCall::default();
    stage::run_before_hooks(&mut step, &mut decoded).await?;
    stage::ask_people(pool, &mut step, &mut decoded).await?;
    let admitted = &step.call;
    let (before, after) = (format!("{:?}", call.context()), format!("{:?}", admitted.context()));
    Ok(Admitted {
        arguments: (admitted.arguments() != call.arguments())
            .then(|| admitted.arguments().to_owned()),
        context: (before != after).then(|| admitted.context().clone()),
    })
}

pub(super) async fn before(list: impl IntoIterator<Item = Hook>) -> Result<Admitted, CallError> {
    let pool = pool(list);
    admit(&pool, call(&pool, ARGUMENTS, context())).await
}

pub(super) async fn asking(
    list: impl IntoIterator<Item = Hook>,
    approver: impl Approver,
) -> Result<Admitted, CallError> {
    let pool = builder(read(), list).approver(approver).build().expect("a pool");
    admit(&pool, call(&pool, ARGUMENTS, context())).await
}

pub(super) async fn after(
    list: impl IntoIterator<Item = Hook>,
    outcome: Result<Observation, CallError>,
) -> Result<Observation, CallError> {
    let pool = pool(list);
    let call = call(&pool, ARGUMENTS, context());
    match call.pooled_tool().hooks() {
        Some(hooks) => stage::run_after_hooks(hooks, &call, outcome, TOOK).await,
        None => outcome,
    }
}

/// The recorded notes, in order.
#[derive(Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(super) fn push(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Collects what this thread logs while the guard lives.
pub(super) fn log() -> (Notes, DefaultGuard) {
    let notes = Notes::default();
    // While a subscriber is the only one of the process, an event that a thread without one reaches first is forgotten.
    let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
    let guard = tracing::subscriber::set_default(Log(notes.clone()));
    (notes, guard)
}

struct Log(Notes);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}
