//! Errors of a manager.

use std::path::PathBuf;
use tool_runtime_config::McpConfigError;

/// The reason why an operation of a manager failed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpManagerError {
    /// Required servers could not be connected to.
    #[error("MCP servers that are required could not be connected to:{}", list(reasons))]
    RequiredFailed {
        /// Name and reason of each.
        reasons: Vec<(String, String)>,
    },
    /// No server has this name.
    #[error("there is no MCP server `{name}`{}", others(known))]
    Unknown {
        /// The name.
        name: String,
        /// The known servers.
        known: Vec<String>,
    },
    /// A server lists no such tool.
    #[error("the MCP server `{server}` lists no tool `{tool}`")]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A server has changed a tool's definition since the one to be approved.
    #[error("the MCP server `{server}` has changed its definition of `{tool}`; review it again")]
    AnotherDefinition {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// There is a server of that name already.
    #[error("there is an MCP server `{name}` already; remove it first")]
    Known {
        /// The name.
        name: String,
    },
    /// The tools of two servers would have the same ids.
    #[error(
        "the tools of the MCP servers `{first}` and `{second}` would both be `{prefix}.…`; give one of them another `prefix`"
    )]
    SamePrefix {
        /// The prefix of the ids.
        prefix: String,
        /// One server.
        first: String,
        /// The other.
        second: String,
    },
    /// The file of approved definitions cannot be used.
    #[error("the file of pins `{}`: {problem}", file.display())]
    Pins {
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A server did not answer a request.
    #[error("MCP server `{name}`: {problem}")]
    Unanswered {
        /// The server.
        name: String,
        /// The reason.
        problem: String,
    },
    /// A server's entry cannot be used.
    #[error("{0}")]
    Config(McpConfigError),
    /// This build lacks the server's transport.
    #[error("MCP server `{name}`: {problem}")]
    NoTransport {
        /// The server.
        name: String,
        /// The missing part.
        problem: String,
    },
    /// Several of these errors.
    #[error("MCP servers cannot be added:{}", problems(.0))]
    Several(Vec<Self>),
    /// The manager has been closed.
    #[error("the MCP servers' manager has been closed")]
    Closed,
}

tool_runtime_core::debug_as_message!(McpManagerError);

fn list(reasons: &[(String, String)]) -> String {
    reasons.iter().map(|(name, reason)| format!("\n- {name}: {reason}")).collect()
}

fn problems(errors: &[McpManagerError]) -> String {
    errors.iter().map(|error| format!("\n- {error}")).collect()
}

fn others(known: &[String]) -> String {
    match known {
        [] => ", nor any other".to_owned(),
        known => format!("; there are: {}", known.join(", ")),
    }
}
