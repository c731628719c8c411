//! Records of calls from their proposal to their end, in every kind of log.

mod failures;
#[cfg(unix)]
mod files;
mod open_calls;
mod records;
mod removal;
mod steps;
mod writing;

use super::*;
use crate::record::{LogRecord, RecordKind};
use crate::testing::{Folder, fill, kinds, pool, problems, records};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering as Order};
use std::time::Duration;
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Execution, Tool, ToolCall};
use tool_runtime_core::vocabulary::error::ErrorClass;

struct Rules;

impl PolicyEngine for Rules {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.argument("text").and_then(|text| text.as_str()) {
            Some("no") => Decision::deny("not that text").with_rule("no"),
            Some("ask") => Decision::ask("Is that right?").with_rule("ask"),
            _ => Decision::allow().with_rule("rest"),
        }
    }
}

fn text(text: &str) -> serde_json::Value {
    json!({ "text": text })
}

/// Tools that count their runs.
fn counting(runs: &Arc<AtomicU32>, log: &EventLog) -> ToolPool {
    let count = |runs: &Arc<AtomicU32>| {
        let runs = Arc::clone(runs);
        move || std::future::ready(runs.fetch_add(1, Order::Relaxed) + 1)
    };
    let (once, fails) = (count(runs), count(runs));
    ToolPool::builder()
        .add(Tool::builder("once", "Count.").handler(once))
        .add(Tool::builder("fails", "Count and fail.").handler(move || {
            let run = fails();
            async move { Err::<(), _>(format!("run {} failed", run.await)) }
        }))
        .add(Tool::builder("wait", "Wait.").handler({
            let runs = count(runs);
            move || {
                drop(runs());
                std::future::pending::<()>()
            }
        }))
        .add(Tool::builder("wait_safely", "Wait.").read_only(true).handler({
            let runs = count(runs);
            move || {
                let run = runs();
                async move {
                    if run.await == 1 {
                        std::future::pending::<()>().await;
                    }
                }
            }
        }))
        .install(log.clone())
        .build()
        .unwrap()
}

/// Fails while it is told to.
struct Faulty(crate::memory::MemoryLog, Arc<std::sync::atomic::AtomicBool>);

impl crate::LogBackend for Faulty {
    fn append(
        &mut self,
        chain: &mut dyn FnMut(crate::Head) -> Vec<crate::LogLine>,
    ) -> Result<(), LogError> {
        match self.1.load(Order::Relaxed) {
            true => Err(LogError::new(LogErrorKind::Full, "the disk is full")),
            false => self.0.append(chain),
        }
    }

    fn step(&mut self, step: &str) -> Result<Vec<crate::LogLine>, LogError> {
        self.0.step(step)
    }

    fn reader(&self) -> Result<Box<dyn crate::LogRead>, LogError> {
        self.0.reader()
    }
}
