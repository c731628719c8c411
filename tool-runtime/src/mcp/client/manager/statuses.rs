//! The state of all servers, as it changes.

use super::{McpManager, Shared};
use crate::mcp::client::status::McpServerStatus;
use std::sync::Weak;
use tokio::sync::watch;

/// The state of all servers, whenever it changes. Changes that nobody looked at are one. Ends with
/// the manager.
#[derive(Debug)]
pub struct McpStatuses {
    changes: watch::Receiver<u64>,
    manager: Weak<Shared>,
}

impl McpStatuses {
    pub(super) fn new(changes: watch::Receiver<u64>, manager: Weak<Shared>) -> Self {
        Self { changes, manager }
    }

    /// How all servers are after the next change; `None` when the manager is gone.
    pub async fn next(&mut self) -> Option<Vec<McpServerStatus>> {
        self.changes.changed().await.ok()?;
        self.manager.upgrade().map(|shared| McpManager(shared).status())
    }
}
