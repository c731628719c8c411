//! Problems of a configuration.

use std::fmt;
use std::path::PathBuf;

/// A problem of a configuration: the location, the problem and the remedy. It holds no value of the
/// configuration.
///
/// ```
/// use tool_runtime::mcp::McpConfig;
///
/// let text = r#"{ "mcpServers": { "fs": { "comand": "npx" } } }"#;
/// let error = McpConfig::loader().json(text).load().unwrap_err();
/// let problem = &error.problems[0];
/// assert_eq!(problem.server.as_deref(), Some("fs"));
/// assert_eq!(problem.key, "mcpServers.fs.comand");
/// assert_eq!(problem.help, "did you mean `command`?");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpConfigProblem {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The server that it concerns, if any.
    pub server: Option<String>,
    /// The path of the key, as in `mcpServers.github.env.TOKEN`; empty for the whole file.
    pub key: String,
    /// The problem.
    pub text: String,
    /// The remedy.
    pub help: String,
}

impl McpConfigProblem {
    /// Whether the problem concerns a server.
    #[doc(hidden)]
    pub fn is_about(&self, server: &str) -> bool {
        self.server.as_deref() == Some(server)
    }
}

impl fmt::Display for McpConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}; {}", self.text, self.help)
    }
}

/// An invalid configuration, with all of its problems.
///
/// ```
/// use tool_runtime::mcp::McpConfig;
///
/// let text = r#"{ "mcpServers": { "web": { "url": "ftp://example.com" }, "fs": {} } }"#;
/// let error = McpConfig::loader().json(text).load().unwrap_err();
/// assert_eq!(error.problems.len(), 2);
/// assert!(error.to_string().contains("`mcpServers.web.url`: the scheme of the address is not supported"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("the configuration of MCP servers cannot be used:{}", list(problems))]
pub struct McpConfigError {
    /// All problems; never empty.
    pub problems: Vec<McpConfigProblem>,
}

tool_runtime_core::debug_as_message!(McpConfigError);

fn list(problems: &[McpConfigProblem]) -> String {
    problems.iter().map(|problem| format!("\n- {problem}")).collect()
}
