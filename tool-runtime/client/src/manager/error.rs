//! Errors of a manager.

use std::fmt;
use tool_runtime_config::McpConfigError;

/// Why a manager did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpManagerError {
    /// None of the servers could be connected to.
    AllFailed {
        /// Name and reason of each.
        reasons: Vec<(String, String)>,
    },
    /// Servers that must be there could not be connected to.
    RequiredFailed {
        /// Name and reason of each.
        reasons: Vec<(String, String)>,
    },
    /// There is no server of that name.
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A server lists no such tool.
    UnknownTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// By now a server lists another definition of a tool than the one to be approved.
    AnotherDefinition {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// There is a server of that name already.
    Known {
        /// The name.
        name: String,
    },
    /// The tools of two servers would have the same ids.
    SamePrefix {
        /// What the ids would begin with.
        prefix: String,
        /// One server.
        first: String,
        /// The other.
        second: String,
    },
    /// A server did not answer what it was asked.
    Unanswered {
        /// The server.
        name: String,
        /// Why.
        problem: String,
    },
    /// A server's entry cannot be used.
    Config(McpConfigError),
    /// A transport that this build does not have.
    NoTransport {
        /// The server.
        name: String,
        /// What is missing.
        problem: String,
    },
    /// The manager has been closed.
    Closed,
}

impl fmt::Display for McpManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllFailed { reasons } => {
                f.write_str("no MCP server could be connected to:")?;
                list(f, reasons)
            }
            Self::RequiredFailed { reasons } => {
                f.write_str("MCP servers that are required could not be connected to:")?;
                list(f, reasons)
            }
            Self::Unknown { name, known } if known.is_empty() => {
                write!(f, "there is no MCP server `{name}`, nor any other")
            }
            Self::Unknown { name, known } => {
                write!(f, "there is no MCP server `{name}`; there are: {}", known.join(", "))
            }
            Self::UnknownTool { server, tool } => {
                write!(f, "the MCP server `{server}` lists no tool `{tool}`")
            }
            Self::AnotherDefinition { server, tool } => write!(
                f,
                "the MCP server `{server}` defines `{tool}` in another way by now; look at it again"
            ),
            Self::Known { name } => {
                write!(f, "there is an MCP server `{name}` already; remove it first")
            }
            Self::SamePrefix { prefix, first, second } => write!(
                f,
                "the tools of the MCP servers `{first}` and `{second}` would both be `{prefix}.…`; give one of them another `prefix`"
            ),
            Self::Unanswered { name, problem } => write!(f, "MCP server `{name}`: {problem}"),
            Self::Config(error) => error.fmt(f),
            Self::NoTransport { name, problem } => write!(f, "MCP server `{name}`: {problem}"),
            Self::Closed => f.write_str("the MCP servers' manager has been closed"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, reasons: &[(String, String)]) -> fmt::Result {
    reasons.iter().try_for_each(|(name, reason)| write!(f, "\n- {name}: {reason}"))
}

impl std::error::Error for McpManagerError {}
