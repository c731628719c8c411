//! A server's slot in a manager: enabled or disabled.

use crate::publisher::Publisher;
use crate::server::Server;
use crate::status::McpState;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tool_runtime_config::McpServerConfig;
use tool_runtime_core::seam::lock;

/// A server of a manager.
pub(super) struct Slot {
    pub(super) server: Arc<Server>,
    publisher: Arc<Publisher>,
    /// The entry, unless the server was added in code.
    pub(super) config: Option<McpServerConfig>,
    pub(super) is_required: bool,
    running: Mutex<Option<Running>>,
}

/// A running supervisor.
struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// The supervised server.
struct Supervised {
    server: Arc<Server>,
    publisher: Arc<Publisher>,
    stop: CancellationToken,
    all: CancellationToken,
}

impl Supervised {
    /// Removes the tools of a server whose supervisor ended without a successor, since the manager or the
    /// runtime has shut down: callers must not wait.
    fn remove_if_abandoned(&self) {
        if self.all.is_cancelled() || !self.stop.is_cancelled() {
            self.server.set_state(McpState::Closed);
            self.publisher.withdraw();
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.remove_if_abandoned();
    }
}

impl Slot {
    pub(super) fn new(
        server: Arc<Server>,
        publisher: Publisher,
        config: Option<McpServerConfig>,
        is_required: bool,
    ) -> Self {
        let (publisher, running) = (Arc::new(publisher), Mutex::default());
        Self { server, publisher, config, is_required, running }
    }

    /// The prefix of its tools' ids.
    pub(super) fn prefix(&self) -> &str {
        self.publisher.prefix()
    }

    /// The setting `resources` of its entry.
    pub(super) fn resources(&self) -> Option<bool> {
        self.config.as_ref()?.resources
    }

    /// Starts a supervisor, which runs until the token or [`Self::stop`]. Does nothing if one runs.
    pub(super) fn start(&self, all: &CancellationToken) {
        let mut running = lock(&self.running);
        if running.as_ref().is_some_and(|running| !running.task.is_finished()) {
            return;
        }
        let stop = all.child_token();
        let (server, publisher) = (Arc::clone(&self.server), Arc::clone(&self.publisher));
        server.set_state(McpState::Connecting);
        let (stopped, all) = (stop.clone(), all.clone());
        let task = tokio::spawn(async move {
            let supervised = Supervised { server, publisher, stop: stopped, all };
            let Supervised { server, publisher, stop, .. } = &supervised;
            stop.run_until_cancelled(server.supervise(publisher)).await;
            supervised.remove_if_abandoned();
            server.disconnect().await;
        });
        *running = Some(Running { stop, task });
    }

    /// Disconnects. Waiting callers get an error with the state.
    pub(super) async fn stop(&self, state: McpState) {
        let running = lock(&self.running).take();
        if let Some(Running { stop, task }) = running {
            stop.cancel();
            drop(task.await);
        }
        self.server.set_state(state);
    }

    /// The reason why a listed tool is left out.
    pub(super) fn why_left_out(&self, id: &str) -> Option<String> {
        self.publisher.why_left_out(id)
    }

    /// Removes the tools from the pool.
    pub(super) fn withdraw(&self) {
        self.publisher.withdraw();
    }

    /// Removes the tools permanently, and ends waits for the server.
    pub(super) fn retire(&self) {
        self.server.set_state(McpState::Closed);
        self.publisher.retire();
    }
}
