//! Changes of a running pool.

use super::snapshot::Snapshot;
use crate::tool::tool::Tool;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedReceiver;

/// A change of the visible tools, by name, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PoolChange {
    /// New tools.
    pub added: Vec<String>,
    /// Tools whose definition changed.
    pub updated: Vec<String>,
    /// Tools that were removed.
    pub removed: Vec<String>,
}

impl PoolChange {
    /// Whether no visible tool changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.removed.is_empty()
    }

    pub(super) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let names = |tools: &[Tool], keep: &dyn Fn(&Tool) -> bool| -> Vec<String> {
            tools.iter().filter(|tool| keep(tool)).map(|tool| tool.name().to_owned()).collect()
        };
        let is_other = |tool: &Tool| {
            before.get(tool.name()).is_some_and(|old| old.definition() != tool.definition())
        };
        Self {
            added: names(after.tools(), &|tool| before.get(tool.name()).is_none()),
            updated: names(after.tools(), &is_other),
            removed: names(before.tools(), &|tool| after.get(tool.name()).is_none()),
        }
    }
}

/// Changes of a pool as they happen. Ends when the pool is closed or dropped.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::Source;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().build()?;
/// let mut changes = pool.changes();
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// pool.add_tools(&Source::owner("skills"), [ping])?;
/// assert_eq!(changes.next().await.unwrap().added, ["ping"]);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct PoolChanges(pub(super) UnboundedReceiver<PoolChange>);

impl PoolChanges {
    /// The next change; `None` when the pool is closed or dropped.
    pub async fn next(&mut self) -> Option<PoolChange> {
        self.0.recv().await
    }

    /// The next change, if one has happened.
    pub fn try_next(&mut self) -> Option<PoolChange> {
        self.0.try_recv().ok()
    }
}
