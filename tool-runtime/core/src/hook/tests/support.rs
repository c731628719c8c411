//! A call, a list of hooks, and a log that can be read.

use crate::approval::Approver;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::hook::admission::Validate;
use crate::hook::hooks::ToolHooks;
use crate::hook::{Admitted, Admitting, Found, Hook, HookCall, Hooks};
use crate::observation::Observation;
use crate::source::Source;
use crate::tool::Tool;
use std::fmt::{Debug, Write as _};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

pub(super) const ARGUMENTS: &str = r#"{"path":"a.txt"}"#;
pub(super) const TOOK: Duration = Duration::from_millis(7);

pub(super) fn call() -> HookCall {
    let tool = Tool::builder("fs.read", "Read a file.").handler(|| async { "text" });
    HookCall::new(found(tool), ARGUMENTS, ToolContext::default().with_call_id("call_1"))
}

pub(super) fn hooks(list: impl IntoIterator<Item = Hook>) -> Hooks {
    let mut hooks = Hooks::default();
    list.into_iter().for_each(|hook| hooks.push(hook));
    hooks
}

/// The hooks of the tool that is called.
pub(super) fn own(list: impl IntoIterator<Item = Hook>) -> ToolHooks {
    hooks(list).of("fs.read").unwrap_or_default()
}

/// Rejects arguments that are not JSON.
pub(super) fn valid(_: &Tool, arguments: &str) -> Result<(), CallError> {
    match serde_json::from_str::<serde_json::Value>(arguments) {
        Ok(_) => Ok(()),
        Err(_) => Err(CallError::new(ErrorClass::Input, format!("no JSON: {arguments}"))),
    }
}

pub(super) async fn before(list: impl IntoIterator<Item = Hook>) -> Result<Admitted, CallError> {
    admit(&own(list), &mut call(), None, valid).await
}

/// Runs the hooks before a call.
pub(super) async fn admit(
    hooks: &ToolHooks,
    call: &mut HookCall,
    approver: Option<&Arc<dyn Approver>>,
    validate: Validate,
) -> Result<Admitted, CallError> {
    let mut call = Some(call);
    let admitting = poll_fn(|waker| {
        let call = call.take().expect("polled once");
        Poll::Ready(hooks.before(call, approver, validate, None, waker))
    });
    match admitting.await {
        Admitting::Done(admitted) => admitted,
        Admitting::Waiting(admitted) => admitted.await,
    }
}

pub(super) async fn asking(
    list: impl IntoIterator<Item = Hook>,
    approver: impl Approver,
) -> Result<Admitted, CallError> {
    let approver: Arc<dyn Approver> = Arc::new(approver);
    admit(&own(list), &mut call(), Some(&approver), valid).await
}

pub(super) async fn after(
    list: impl IntoIterator<Item = Hook>,
    outcome: Result<Observation, CallError>,
) -> Result<Observation, CallError> {
    own(list).after(call(), outcome, TOOK).await
}

/// The recorded texts, in order.
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

/// The tool as calls of a pool find it.
pub(super) fn found(tool: Tool) -> Found {
    Found::new(tool, Source::Custom)
}
