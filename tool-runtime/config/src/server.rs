//! One server of a configuration.

use super::auth::McpAuth;
use super::problem::McpConfigProblem;
use super::text::McpText;
use super::transport::{HttpConfig, McpTransportConfig, StdioConfig};
use std::collections::BTreeMap;
use std::time::Duration;
use tool_runtime_core::{Icon, Secret, ToolPattern};

/// One server: how it is reached, and what of it is wanted.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::mcp::{McpConfig, McpServerConfig};
///
/// let files = McpServerConfig::stdio("npx")
///     .args(["-y", "@modelcontextprotocol/server-filesystem", "/srv"])
///     .env("LOG_LEVEL", "debug")
///     .exclude("write_*".parse()?);
/// let issues = McpServerConfig::http("https://example.com/mcp")
///     .bearer("8fQm2x")
///     .call_timeout(Duration::from_secs(30));
/// let config = McpConfig::new().with("files", files).with("issues", issues);
/// config.validate()?;
/// assert!(!format!("{config:?}").contains("8fQm2x"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpServerConfig {
    /// The transport.
    pub transport: McpTransportConfig,
    /// Whether the server is used. Default: true. After enabling a server that was read as disabled, call
    /// [`McpConfig::validate`](crate::McpConfig::validate), which reports missing values.
    pub enabled: bool,
    /// Whether nothing starts without it. Default: false.
    pub required: bool,
    /// A description for people. Default: none.
    pub description: Option<String>,
    /// A picture for people. Default: none.
    pub icon: Option<Icon>,
    /// In what time it must be connected and have listed its tools. Default: none of its own.
    pub connect_timeout: Option<Duration>,
    /// Limit on the time of a call without progress, up to `McpManagerBuilder::max_call_duration` in all.
    /// Default: that of the manager.
    pub call_timeout: Option<Duration>,
    /// The same for calls of single tools, by the names that the server has for them. Default:
    /// empty.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Only the tools that one of these matches, by the names that the server has for them.
    /// Default: `None`, all of them; an empty list is none of them.
    pub include: Option<Vec<ToolPattern>>,
    /// Not the tools that one of these matches, whatever is included. Default: empty.
    pub exclude: Vec<ToolPattern>,
    /// Prefix of its tools' ids. Default: its name.
    pub prefix: Option<String>,
    /// Whether models can list and read its resources, by the tools `list_mcp_resources` and
    /// `read_mcp_resource`. Default: false.
    pub resources: bool,
    /// Whether the annotations of its tools are acted on: they satisfy filters as `hint:read_only`, let
    /// calls run concurrently, and allow a call that was lost to be sent again. Annotations of
    /// other servers are listed, and otherwise ignored. Default: false.
    pub trusted: bool,
    /// Variables without a value, which a disabled server would lack.
    pub(super) lacking: Vec<McpConfigProblem>,
    /// The values of variables that its texts were expanded with, by their names.
    pub(super) found: BTreeMap<String, Secret>,
}

impl McpServerConfig {
    fn of(transport: McpTransportConfig) -> Self {
        Self {
            transport,
            enabled: true,
            required: false,
            description: None,
            icon: None,
            connect_timeout: None,
            call_timeout: None,
            tool_timeouts: BTreeMap::new(),
            include: None,
            exclude: Vec::new(),
            prefix: None,
            resources: false,
            trusted: false,
            lacking: Vec::new(),
            found: BTreeMap::new(),
        }
    }

    /// A server over either transport.
    pub fn new(transport: impl Into<McpTransportConfig>) -> Self {
        Self::of(transport.into())
    }

    /// A server that is started by a command: a program in `PATH`, or the path of one.
    pub fn stdio(command: impl Into<McpText>) -> Self {
        Self::new(StdioConfig::new(command))
    }

    /// A server over HTTP, at an `http` or `https` address.
    pub fn http(url: impl Into<McpText>) -> Self {
        Self::new(HttpConfig::new(url))
    }

    /// Adds an argument of the command. Nothing over HTTP.
    #[must_use]
    pub fn arg(self, arg: impl Into<Secret>) -> Self {
        self.args([arg])
    }

    /// Adds arguments of the command. Nothing over HTTP.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<Secret>>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.args.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// Sets a variable of the command's environment. Nothing over HTTP.
    #[must_use]
    pub fn env(mut self, name: impl Into<McpText>, value: impl Into<Secret>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the folder that the command runs in. Nothing over HTTP.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<McpText>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.cwd = Some(cwd.into());
        }
        self
    }

    /// Sets a header of every request. Nothing over stdio.
    #[must_use]
    pub fn header(mut self, name: impl Into<McpText>, value: impl Into<Secret>) -> Self {
        if let McpTransportConfig::Http(http) = &mut self.transport {
            http.headers.insert(name.into(), value.into());
        }
        self
    }

    /// Authenticates by a bearer token. Nothing over stdio.
    #[must_use]
    pub fn bearer(self, token: impl Into<Secret>) -> Self {
        self.auth(McpAuth::Bearer(token.into()))
    }

    /// Sets how to authenticate. Nothing over stdio.
    #[must_use]
    pub fn auth(mut self, auth: McpAuth) -> Self {
        if let McpTransportConfig::Http(http) = &mut self.transport {
            http.auth = Some(auth);
        }
        self
    }

    /// Sets whether it is used. Default: true.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets whether nothing starts without it. Default: false.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Says what it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets in what time it must be connected and have listed its tools.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Sets how long a call of a tool may go on without a word of the server; progress begins it anew.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = Some(limit);
        self
    }

    /// Sets the same for calls of one tool, by the name that the server has for it.
    #[must_use]
    pub fn tool_timeout(mut self, tool: impl Into<String>, limit: Duration) -> Self {
        self.tool_timeouts.insert(tool.into(), limit);
        self
    }

    /// Includes the tools that a pattern matches, by the names that the server has for them.
    /// Tools that no pattern includes are then left out.
    #[must_use]
    pub fn include(mut self, pattern: ToolPattern) -> Self {
        self.include.get_or_insert_default().push(pattern);
        self
    }

    /// Leaves out the tools that a pattern matches, by the names that the server has for them.
    #[must_use]
    pub fn exclude(mut self, pattern: ToolPattern) -> Self {
        self.exclude.push(pattern);
        self
    }

    /// Sets what the ids of its tools begin with. Default: its name.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets whether models can list and read its resources, by the tools `list_mcp_resources` and
    /// `read_mcp_resource`. Default: false.
    #[must_use]
    pub fn resources(mut self, resources: bool) -> Self {
        self.resources = resources;
        self
    }

    /// Sets whether the annotations of its tools are acted on, see [`Self::trusted`]. Default: false.
    ///
    /// ```
    /// # use tool_runtime::mcp::McpServerConfig;
    /// assert!(McpServerConfig::stdio("files").trusted(true).trusted);
    /// ```
    #[must_use]
    pub fn trusted(mut self, trusted: bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// Whether a tool of the server is wanted, by the name that the server has for it.
    ///
    /// ```
    /// # use tool_runtime::mcp::McpServerConfig;
    /// let server = McpServerConfig::stdio("files").include("read_*".parse()?).exclude("read_all".parse()?);
    /// assert!(server.wants("read_text"));
    /// assert!(!server.wants("read_all") && !server.wants("write"));
    /// # Ok::<(), tool_runtime::PatternError>(())
    /// ```
    pub fn wants(&self, tool: &str) -> bool {
        let matches =
            |patterns: &[ToolPattern]| patterns.iter().any(|pattern| means(pattern, tool));
        self.include.as_deref().is_none_or(matches) && !matches(&self.exclude)
    }
}

/// Whether a pattern means a tool, by the name that its server has for it.
pub(super) fn means(pattern: &ToolPattern, tool: &str) -> bool {
    // In a glob, `*` stops at slashes, and `?` is one byte: these names may hold any character.
    let flat = || tool.replace(|c: char| c == '/' || !c.is_ascii(), "\u{1}");
    pattern.matches(tool) || pattern.matches(&flat())
}
