//! The status of a server, for operators.

use std::fmt;
use tokio::time::Instant;
use tool_runtime_core::PeerInfo;

/// How an external MCP server is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpServerStatus {
    /// The name that it has in the configuration.
    pub name: String,
    /// Whether it is connected, and why not.
    pub state: McpState,
    /// How many usable tools it listed last: without those that its entry leaves out, and those that are named in
    /// [`problems`](Self::problems) as left out. Whether the pool shows them is said by [`ToolPool::report`](tool_runtime_core::ToolPool::report).
    pub tools: usize,
    /// What was wrong with what it listed, in words.
    pub problems: Vec<String>,
    /// What it calls itself. It can claim anything here.
    pub info: Option<PeerInfo>,
    /// The version of MCP that is spoken with it.
    pub protocol: Option<String>,
    /// What it tells models about the use of its tools. It can claim anything here.
    pub instructions: Option<String>,
}

/// Whether a server is connected, and why not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum McpState {
    /// It is being connected to.
    Connecting,
    /// It is connected, and its tools are listed.
    Ready,
    /// It could not be connected to, or went away. It is tried again.
    Retrying {
        /// Why.
        reason: String,
        /// How many tries in a row have failed. From the fifth on, calls no longer cause one.
        failures: u32,
        /// When it is tried next.
        next: Instant,
    },
    /// Its entry says so, or somebody disabled it.
    Disabled,
    /// It wants to know who asks, and a person is asked to let this program in. It is connected to
    /// when they have.
    Authorizing,
    /// It wants to know who asks. It is tried again only when somebody says so.
    NeedsAuth {
        /// What it said.
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
        }
    }

    /// Whether calls reach it.
    pub fn is_ready(&self) -> bool {
        self.state == McpState::Ready
    }
}

impl McpState {
    /// Why calls do not reach it, if that is known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Retrying { reason, .. } | Self::NeedsAuth { reason } => Some(reason),
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
            Self::Authorizing => f.write_str("waiting for a person to let this program in"),
            Self::NeedsAuth { reason } => write!(f, "needs auth: {reason}"),
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
