//! The status of a server, for operators.

use std::fmt;
use tokio::time::Instant;
use tool_runtime_core::tool::peer::PeerInfo;

/// The status of an external MCP server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpServerStatus {
    /// The name in the configuration.
    pub name: String,
    /// The connection state, with the reason if not connected.
    pub state: McpState,
    /// Number of usable tools in its last list, without those that its entry or [`problems`](Self::problems)
    /// leave out. [`ToolPool::report`](tool_runtime_core::pool::ToolPool::report) lists the tools that the pool shows.
    pub tools: usize,
    /// Problems of its last list.
    pub problems: Vec<String>,
    /// Name and version, as the server claims them.
    pub info: Option<PeerInfo>,
    /// The negotiated version of MCP.
    pub protocol: Option<String>,
    /// Instructions for models, from the server.
    pub instructions: Option<String>,
    /// Whether an attempt to connect has ended, with whatever outcome.
    pub was_attempted: bool,
}

/// Whether a server is connected, and why not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum McpState {
    /// The connection is being established.
    Connecting,
    /// Connected, with listed tools.
    Ready,
    /// The connection failed or was lost, and is retried.
    Retrying {
        /// The reason.
        reason: String,
        /// Failed attempts in a row. From the fifth on, calls no longer cause one.
        failures: u32,
        /// The time of the next attempt.
        next: Instant,
    },
    /// Disabled by its entry or by hand.
    Disabled,
    /// The server requires authorization, and the user is asked to grant it.
    Authorizing,
    /// The server requires authorization. It is retried only on request.
    NeedsAuth {
        /// The server's answer.
        reason: String,
    },
    /// The entry in the configuration cannot be used.
    Unusable {
        /// The problems of the entry.
        reason: String,
    },
    /// The manager was closed, or the server removed.
    Closed,
}

impl McpServerStatus {
    pub(super) fn new(name: &str, state: McpState) -> Self {
        Self {
            name: name.to_owned(),
            state,
            tools: 0,
            problems: Vec::new(),
            info: None,
            protocol: None,
            instructions: None,
            was_attempted: false,
        }
    }

    /// Whether calls reach the server.
    pub fn is_ready(&self) -> bool {
        self.state == McpState::Ready
    }
}

impl McpState {
    /// The reason why calls do not reach the server, if known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Retrying { reason, .. }
            | Self::NeedsAuth { reason }
            | Self::Unusable { reason } => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for McpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => f.write_str("connecting"),
            Self::Ready => f.write_str("ready"),
            Self::Retrying { reason, next, .. } => {
                let wait = next.saturating_duration_since(Instant::now()).as_secs();
                match wait {
                    0 => write!(f, "retrying now: {reason}"),
                    _ => write!(f, "retrying in {wait}s: {reason}"),
                }
            }
            Self::Disabled => f.write_str("disabled"),
            Self::Authorizing => f.write_str("waiting for the user to authorize this program"),
            Self::NeedsAuth { reason } => write!(f, "needs auth: {reason}"),
            Self::Unusable { reason } => f.write_str(reason),
            Self::Closed => f.write_str("closed"),
        }
    }
}

impl fmt::Display for McpServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, state, tools, .. } = self;
        match (state, tools) {
            (McpState::Ready, 1) => write!(f, "{name}: ready, 1 tool"),
            (McpState::Ready, _) => write!(f, "{name}: ready, {tools} tools"),
            _ => write!(f, "{name}: {state}"),
        }
    }
}
