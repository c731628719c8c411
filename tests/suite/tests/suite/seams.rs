//! Policies, limits, records and steps of a pool, as a user implements them.

mod extension;
mod limits;
mod policy;
mod records;
mod served;
mod steps;
mod typed;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::Principal;
use tool_runtime::govern::{
    CallEvent, CallStage, CallView, Decision, Effect, Limit, LimitExceeded, Limiter, PolicyEngine,
    Receipt, Recorder, Reservation,
};
use tool_runtime::prelude::*;

/// Read a file.
#[tool(read_only, register = false)]
async fn read(
    /// Its path.
    path: String,
) -> String {
    format!("read {path}")
}

/// Write a file.
#[tool(register = false)]
async fn write(
    /// Its path.
    path: String,
) -> String {
    format!("wrote {path}")
}

/// Wait forever, or panic.
#[tool(register = false, timeout = "50ms")]
async fn fail(
    /// Whether to panic instead of waiting.
    panic: bool,
) {
    assert!(!panic, "as asked");
    std::future::pending::<()>().await;
}

fn builder() -> tool_runtime::ToolPoolBuilder {
    ToolPool::builder().tool::<ReadAction>().tool::<WriteAction>().tool::<FailAction>()
}

/// Decides by the path, and hides `write` from everyone but administrators.
#[derive(Default)]
struct Paths {
    decisions: Arc<AtomicU32>,
    hides_writing: bool,
}

impl PolicyEngine for Paths {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        self.decisions.fetch_add(1, Ordering::Relaxed);
        match call.argument("path").and_then(|path| path.as_str()) {
            Some("secret") => Decision::deny("`path` is secret; read another file").with_rule("s"),
            Some("odd") => Decision::ask("Is that right?").with_rule("o"),
            _ => Decision::allow(),
        }
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        !self.hides_writing || tool.name != "write" || principal.has_scope("admin")
    }
}

/// Allows a number of calls.
#[derive(Clone)]
struct Budget(Arc<AtomicU32>);

impl Budget {
    fn new(calls: u32) -> Self {
        Self(Arc::new(AtomicU32::new(calls)))
    }

    fn left(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Limiter for Budget {
    fn reserve(&self, _: &CallView<'_>, _: &[Limit]) -> Result<Reservation, LimitExceeded> {
        let remaining =
            self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
        remaining.map_err(|_| LimitExceeded::new("the budget is used up"))?;
        let budget = Arc::clone(&self.0);
        Ok(Reservation::new(move || {
            budget.fetch_add(1, Ordering::AcqRel);
        }))
    }
}

/// Records the events of all calls, one line each.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The events of a tool, without its name.
    fn of_tool(&self, tool: &str) -> Vec<String> {
        let events = self.all().into_iter();
        events
            .filter_map(|line| line.strip_prefix(&format!("{tool} ")).map(str::to_owned))
            .collect()
    }
}

impl Recorder for Events {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let stage = match event.stage {
            CallStage::Proposed => format!("proposed {}", event.call.arguments()),
            CallStage::Decided { decision, by, .. } => {
                let effect = match decision.effect() {
                    Effect::Allow => "allow",
                    Effect::Ask => "ask",
                    _ => "deny",
                };
                let approver = by.map(|approver| format!(" by {approver}")).unwrap_or_default();
                let rule = decision.rule().map(|rule| format!(" rule {rule}")).unwrap_or_default();
                format!("decided {effect}{rule}{approver}")
            }
            CallStage::Suspended => "suspended".to_owned(),
            CallStage::Started { .. } => format!("started {}", event.call.arguments()),
            CallStage::Finished { outcome, duration, is_replayed, .. } => {
                let outcome = match outcome {
                    Ok(observation) => observation.to_text(),
                    Err(error) => error.class().to_string(),
                };
                let ran = if duration.is_some() { ", ran" } else { "" };
                let replayed = if is_replayed { ", replayed" } else { "" };
                format!("finished {outcome}{ran}{replayed}")
            }
            _ => "another stage".to_owned(),
        };
        self.0.lock().unwrap().push(format!("{} {stage}", event.call.name()));
        Receipt::recorded()
    }
}
