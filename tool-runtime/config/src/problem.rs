//! Problems of a configuration.

use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong with a configuration, or that it should say otherwise: where, what,
/// and what to do. No value of the configuration is in it.
///
/// ```
/// use tool_runtime::McpConfig;
///
/// let error = McpConfig::from_json(r#"{ "mcpServers": { "fs": { "comand": "npx" } } }"#).unwrap_err();
/// let problem = &error.problems[0];
/// assert_eq!(problem.server.as_deref(), Some("fs"));
/// assert_eq!(problem.key, "mcpServers.fs.comand");
/// assert_eq!(problem.help, "did you mean `command`?");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpConfigProblem {
    /// The file, if it came from one.
    pub file: Option<PathBuf>,
    /// The server, if it is about one.
    pub server: Option<String>,
    /// The path of the key, as in `mcpServers.github.env.TOKEN`; empty for the whole file.
    pub key: String,
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub help: String,
}

impl McpConfigProblem {
    /// Whether it concerns a server.
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

/// Why a configuration cannot be used: everything that is wrong with it at once.
///
/// ```
/// use tool_runtime::McpConfig;
///
/// let error = McpConfig::from_json(
///     r#"{ "mcpServers": { "web": { "url": "ftp://example.com" }, "fs": {} } }"#,
/// )
/// .unwrap_err();
/// assert_eq!(error.problems.len(), 2);
/// assert!(error.to_string().contains("`mcpServers.web.url`: `ftp` is not a scheme of a server"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpConfigError {
    /// What is wrong; never empty.
    pub problems: Vec<McpConfigProblem>,
}

impl fmt::Display for McpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration of MCP servers cannot be used:")?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

impl std::error::Error for McpConfigError {}
