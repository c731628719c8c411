//! Transports of servers.

use super::auth::McpAuth;
use super::text::McpText;
use super::url;
use std::collections::BTreeMap;
use std::fmt;
use tool_runtime_core::vocabulary::Secret;

/// The transport of a server.
///
/// ```
/// use tool_runtime::mcp::{HttpConfig, McpTransportConfig, StdioConfig};
///
/// let transport = McpTransportConfig::from(StdioConfig::new("npx"));
/// assert!(matches!(transport, McpTransportConfig::Stdio(stdio) if stdio.args.is_empty()));
/// let transport = McpTransportConfig::from(HttpConfig::new("https://example.com/mcp"));
/// assert!(matches!(transport, McpTransportConfig::Http(http) if !http.legacy_sse));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum McpTransportConfig {
    /// A program with messages on its standard input and output.
    Stdio(StdioConfig),
    /// A server over HTTP.
    Http(HttpConfig),
}

/// A server that is started. `Debug` shows neither arguments nor the values of variables.
///
/// ```
/// use tool_runtime::mcp::StdioConfig;
///
/// let mut stdio = StdioConfig::new("npx");
/// stdio.args = vec!["--token".into(), "8fQm2x".into()];
/// stdio.env.insert("TOKEN".into(), "1vXk9p".into());
/// assert_eq!(
///     format!("{stdio:?}"),
///     r#"StdioConfig { command: "npx", args: 2, env: ["TOKEN"], cwd: None }"#,
/// );
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// A program in `PATH`, or the path of one.
    pub command: McpText,
    /// The arguments of the command, which may contain tokens. Default: none.
    pub args: Vec<Secret>,
    /// Additional variables of its environment. Default: none.
    pub env: BTreeMap<McpText, Secret>,
    /// The working directory. Default: that of this process.
    pub cwd: Option<McpText>,
}

impl StdioConfig {
    /// A command without arguments.
    pub fn new(command: impl Into<McpText>) -> Self {
        Self { command: command.into(), args: Vec::new(), env: BTreeMap::new(), cwd: None }
    }
}

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&McpText> = self.env.keys().collect();
        f.debug_struct("StdioConfig")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// A server over HTTP. `Debug` shows neither header values nor user information and query of the address.
///
/// ```
/// use tool_runtime::mcp::HttpConfig;
///
/// let mut http = HttpConfig::new("https://example.com/mcp?key=8fQm2x");
/// http.headers.insert("X-Team".into(), "1vXk9p".into());
/// let output = format!("{http:?}");
/// assert!(output.contains(r#"url: "https://example.com/mcp?..", headers: ["X-Team"]"#), "{output}");
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The URL of the server, of scheme `http` or `https`.
    pub url: McpText,
    /// Headers of every request. Default: none.
    pub headers: BTreeMap<McpText, Secret>,
    /// Authentication. Default: none.
    pub auth: Option<McpAuth>,
    /// Whether the server supports only the transport of 2024-11-05, with two addresses and a stream of
    /// events (`"type": "sse"`). Default: false.
    pub legacy_sse: bool,
}

impl HttpConfig {
    /// An address, without headers.
    pub fn new(url: impl Into<McpText>) -> Self {
        let url = url.into();
        let url = McpText::url(url.as_str().to_owned(), url.redacted());
        Self { url, headers: BTreeMap::new(), auth: None, legacy_sse: false }
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&McpText> = self.headers.keys().collect();
        f.debug_struct("HttpConfig")
            .field("url", &url::redact(self.url.redacted()))
            .field("headers", &names)
            .field("auth", &self.auth)
            .field("legacy_sse", &self.legacy_sse)
            .finish()
    }
}

impl From<StdioConfig> for McpTransportConfig {
    fn from(stdio: StdioConfig) -> Self {
        Self::Stdio(stdio)
    }
}

impl From<HttpConfig> for McpTransportConfig {
    fn from(http: HttpConfig) -> Self {
        Self::Http(http)
    }
}
