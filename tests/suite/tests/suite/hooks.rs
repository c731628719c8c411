//! Hooks before and after calls.

mod after;
mod approval;
mod before;
mod provided;
mod ways;

use std::sync::{Arc, Mutex};
use tool_runtime::hook::Hook;
use tool_runtime::prelude::*;
use tool_runtime::{CallError, ToolPoolBuilder};

/// Events in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Send a mail.
#[tool(name = "mail.send", register = false, writes("mail:{to}"))]
async fn send(
    /// To whom.
    #[arg(length = 3..)]
    to: String,
    /// The text to say.
    #[arg(default = "hello")]
    text: String,
    seen: &Seen,
) -> String {
    seen.note(format!("sent to {to}"));
    format!("{text} to {to}")
}

/// List mails.
#[tool(name = "mail.list", read_only, register = false)]
async fn list(seen: &Seen) -> &'static str {
    seen.note("listed");
    "two mails"
}

/// Fail.
#[tool(register = false)]
async fn fail(seen: &Seen) -> Result<(), ToolError> {
    seen.note("failed");
    Err(ToolError::transient("busy"))
}

/// Panic.
#[tool(register = false)]
async fn explode(seen: &Seen) {
    seen.note("exploded");
    panic!("boom");
}

fn builder() -> (ToolPoolBuilder, Seen) {
    let seen = Seen::default();
    let builder = ToolPool::builder()
        .tool::<SendAction>()
        .tool::<ListAction>()
        .tool::<FailAction>()
        .tool::<ExplodeAction>()
        .state(seen.clone());
    (builder, seen)
}

fn pool(hooks: impl IntoIterator<Item = Hook>) -> (ToolPool, Seen) {
    let (builder, seen) = builder();
    let builder = hooks.into_iter().fold(builder, ToolPoolBuilder::hook);
    (builder.build().expect("a pool"), seen)
}

fn to_ada() -> ToolCall {
    ToolCall::new("mail.send", r#"{"to":"ada"}"#).with_call_id("1")
}

fn text(result: &ToolResult) -> String {
    assert!(!result.is_error(), "{result:?}");
    result.observation().to_text()
}

fn error(result: &ToolResult) -> &CallError {
    result.error().expect("an error")
}

fn panicking<T>(text: &'static str) -> T {
    panic!("{text}")
}
