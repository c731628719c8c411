//! State of one server, shared by its tools and its supervisor.

use super::backoff::Backoff;
use super::connection::Connection;
use super::connector::Connector;
use super::redactors::Redactors;
use super::status::{McpServerStatus, McpState};
use arc_swap::ArcSwapOption;
use rmcp::model::Implementation;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tool_runtime_core::tool::peer::PeerInfo;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// Number of failures in a row after which calls no longer cause an attempt.
pub(super) const MAX_FAILURES: u32 = 5;
/// Limit on ending connections: longer than any takes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The beginning of a problem of resources in the status.
const RESOURCES: &str = "its resources: ";

/// Time limits of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Time for the connection and the list of tools.
    pub(super) connect: Duration,
    /// Time for a list of resources, or the contents of one.
    pub(super) resources: Duration,
    pub(super) backoff: Backoff,
}

/// One server, shared by its tools and its supervisor.
pub(super) struct Server {
    pub(super) name: Arc<str>,
    pub(super) redactors: Arc<Redactors>,
    pub(super) connector: Connector,
    pub(super) times: Times,
    pub(super) connection: ArcSwapOption<Connection>,
    pub(super) condition: watch::Sender<Condition>,
    /// Notified when a caller waits for a connection.
    pub(super) wanted: Notify,
    /// Watchers of all servers.
    watchers: Arc<Watchers>,
}

/// Counts the changes of all servers of a manager, for watchers.
pub(super) type Watchers = watch::Sender<u64>;

/// The status of a server, and the number of attempts.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) status: McpServerStatus,
    pub(super) tries: u64,
}

impl Server {
    pub(super) fn new(
        name: Arc<str>,
        redactors: Arc<Redactors>,
        connector: Connector,
        times: Times,
        state: McpState,
        watchers: Arc<Watchers>,
    ) -> Self {
        let condition = Condition { status: McpServerStatus::new(&name, state), tries: 0 };
        Self {
            name,
            redactors,
            connector,
            times,
            connection: ArcSwapOption::empty(),
            condition: watch::Sender::new(condition),
            wanted: Notify::new(),
            watchers,
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Text of the server on one line, without secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        self.redactors.line(text)
    }

    pub(super) fn redactors(&self) -> &Redactors {
        &self.redactors
    }

    pub(super) fn status(&self) -> McpServerStatus {
        self.condition.borrow().status.clone()
    }

    /// Waits until a connection was attempted, or no attempt will be made.
    pub(super) async fn settled(&self) {
        let is_settled = |now: &Condition| {
            !matches!(now.status.state, McpState::Connecting | McpState::Authorizing)
        };
        // The sender is ours.
        drop(self.condition.subscribe().wait_for(is_settled).await);
    }

    pub(super) fn set_state(&self, state: McpState) {
        self.change(|condition| condition.status.state = state);
    }

    /// Replaces the problems of its resources in the status.
    pub(super) fn set_resource_problems(&self, gaps: &[String]) {
        let current: Vec<String> =
            gaps.iter().map(|gap| format!("{RESOURCES}{}", self.redact(gap))).collect();
        let is_of_resources = |problem: &&String| problem.starts_with(RESOURCES);
        let known = self.status().problems;
        if known.iter().filter(is_of_resources).eq(&current) {
            return;
        }
        self.change(|condition| {
            let problems = &mut condition.status.problems;
            problems.retain(|problem| !is_of_resources(&problem));
            problems.extend(current);
        });
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Condition)) {
        self.condition.send_modify(change);
        self.watchers.send_modify(|changes| *changes += 1);
    }

    /// Reads the tool list again, if the server is connected.
    pub(super) fn list_again(&self) {
        if let Some(connection) = self.live() {
            connection.notifications().changed().notify();
        }
    }

    /// A live connection. Without one, all callers wait for the same attempt.
    ///
    /// # Errors
    /// The reason, for the model: the attempt failed, or no attempt is made.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, CallError> {
        if let Some(connection) = self.live() {
            return Ok(connection);
        }
        let mut condition = self.condition.subscribe();
        let tries = condition.borrow_and_update().tries;
        loop {
            let now = condition.borrow_and_update().clone();
            match now.status.state {
                McpState::Ready => {
                    if let Some(connection) = self.live() {
                        return Ok(connection);
                    }
                }
                McpState::Connecting => {}
                McpState::Retrying { failures, .. }
                    if failures < MAX_FAILURES && now.tries == tries =>
                {
                    self.wanted.notify_one();
                }
                _ => return Err(self.unreachable(&now.status.state)),
            }
            if condition.changed().await.is_err() {
                return Err(self.unreachable(&McpState::Closed));
            }
        }
    }

    /// The server's own name and version, without secrets.
    pub(super) fn peer_info(&self, info: &Implementation) -> PeerInfo {
        let title = info.title.as_deref().map(|title| self.redact(title));
        let mut peer = PeerInfo::new(self.redact(&info.name), self.redact(&info.version));
        peer.title = title;
        peer
    }

    fn live(&self) -> Option<Arc<Connection>> {
        self.connection.load_full().filter(|connection| !connection.is_closed())
    }

    /// Ends the connection, and waits for the end of this and earlier ones.
    pub(super) async fn disconnect(&self) {
        if let Some(connection) = self.connection.swap(None) {
            connection.close().await;
        }
        drop(timeout(CLOSE_TIMEOUT, self.connector.ended()).await);
    }

    /// The reason why its tools cannot be called, if any.
    pub(super) fn absence(&self) -> Option<CallError> {
        let state = self.status().state;
        (state != McpState::Ready).then(|| self.unreachable(&state))
    }

    #[cold]
    fn unreachable(&self, state: &McpState) -> CallError {
        let name = &self.name;
        match state {
            McpState::Retrying { reason, .. } => {
                let text = format!("the MCP server `{name}` is not connected: {reason}");
                CallError::new(ErrorClass::Transient, text)
            }
            McpState::Connecting => {
                let text =
                    format!("the MCP server `{name}` is being connected to; try again in a moment");
                CallError::new(ErrorClass::Transient, text)
            }
            McpState::Disabled => {
                let text = format!("the MCP server `{name}` is disabled, and its tools with it");
                CallError::new(ErrorClass::Denied, text)
            }
            other => {
                let text = format!("the MCP server `{name}` is not connected: {other}");
                CallError::new(ErrorClass::Tool, text)
            }
        }
    }
}
