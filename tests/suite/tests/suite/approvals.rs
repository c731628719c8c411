//! Approval of calls by people, through every channel.

mod caller;
mod crash;
mod inbox;
mod remembered;
mod rules;
mod stored;
mod terminal;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::govern::{Approvers, CallView, Decision, PolicyEngine};
use tool_runtime::prelude::*;

/// The paths that were removed.
#[derive(Clone, Default)]
struct Removed(Arc<Mutex<Vec<String>>>);

impl Removed {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Remove a file.
#[tool(register = false)]
async fn remove(
    /// Its path.
    #[arg(length = 1..=20)]
    path: String,
    /// The password.
    #[arg(secret, default = "none")]
    password: String,
    removed: &Removed,
) -> String {
    removed.0.lock().unwrap().push(format!("{path} by {password}"));
    format!("removed {path}")
}

/// List files.
#[tool(register = false)]
async fn list(removed: &Removed) -> usize {
    removed.all().len()
}

/// Asks about every call in the given way, but denies calls with the path `keep`.
struct AskUnlessKept(fn(Decision) -> Decision);

impl PolicyEngine for AskUnlessKept {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.argument("path").and_then(|path| path.as_str()) {
            Some("keep") => Decision::deny("`keep` is kept"),
            _ => (self.0)(Decision::ask("Remove it?").with_rule("removals")),
        }
    }
}

fn builder(removed: &Removed, asking: fn(Decision) -> Decision) -> ToolPoolBuilder {
    let pool = ToolPool::builder().tool::<RemoveAction>().tool::<ListAction>();
    pool.state(removed.clone()).policy(AskUnlessKept(asking))
}

fn by_others(decision: Decision) -> Decision {
    decision.approved_by(Approvers::others())
}

fn remove_call(path: &str) -> ToolCall {
    ToolCall::json("remove", serde_json::json!({ "path": path, "password": "hunter2" }))
}

/// A directory that is removed at the end.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("approvals-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(std::fs::remove_dir_all(&path));
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
