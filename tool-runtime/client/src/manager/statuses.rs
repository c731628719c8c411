//! Watches the states of all servers.

use super::{Inner, McpManager};
use crate::status::McpServerStatus;
use std::sync::{Arc, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A stream of the states of all servers, with an item per change. Unread changes are merged. Ends with the
/// manager.
#[derive(Debug)]
pub struct McpStatuses {
    changes: watch::Receiver<u64>,
    manager: Weak<Inner>,
    /// Cancelled when the manager ends.
    end: CancellationToken,
    /// The last reported status.
    last: Vec<McpServerStatus>,
}

impl McpStatuses {
    pub(super) fn new(manager: &McpManager) -> Self {
        let shared = &manager.0;
        let (changes, last) = (shared.watchers.subscribe(), manager.status());
        Self { changes, manager: Arc::downgrade(shared), end: shared.end.clone(), last }
    }

    /// The status of all servers after the next change; `None` when the manager is closed or dropped.
    pub async fn next(&mut self) -> Option<Vec<McpServerStatus>> {
        loop {
            self.end.run_until_cancelled(self.changes.changed()).await?.ok()?;
            let status = McpManager(self.manager.upgrade()?).status();
            if status != self.last {
                self.last.clone_from(&status);
                return Some(status);
            }
        }
    }
}
