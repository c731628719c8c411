//! One server of a configuration.

use super::auth::McpAuth;
use super::problem::McpConfigProblem;
use super::text::McpText;
use super::transport::{HttpConfig, McpTransportConfig, StdioConfig};
use std::collections::BTreeMap;
use std::time::Duration;
use tool_runtime_core::tool::transform::ToolTransform;
use tool_runtime_core::vocabulary::Secret;
use tool_runtime_core::vocabulary::content::Icon;
use tool_runtime_core::vocabulary::matching::ToolPattern;

/// A server: its transport, limits and tools.
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
    /// Whether a manager fails to start without this server. Default: false.
    pub required: bool,
    /// A description for people. Default: none.
    pub description: Option<String>,
    /// An icon, for display. Default: none.
    pub icon: Option<Icon>,
    /// Time limit of connecting and listing tools. Default: that of the manager.
    pub connect_timeout: Option<Duration>,
    /// Limit on the time of a call without progress, up to `McpManagerBuilder::max_call_duration` in all.
    /// Default: that of the manager.
    pub call_timeout: Option<Duration>,
    /// Call timeouts of single tools, by the server's names. Default: empty.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Patterns of the included tools, by the server's names. An empty list includes none. Default: `None`, all tools.
    pub include: Option<Vec<ToolPattern>>,
    /// Patterns of the excluded tools, which override the included ones. Default: empty.
    pub exclude: Vec<ToolPattern>,
    /// Changes of single tools, by the server's names: name, descriptions, arguments. Default: empty.
    pub transforms: BTreeMap<String, ToolTransform>,
    /// Prefix of its tools' ids. Default: its name.
    pub prefix: Option<String>,
    /// Whether models can list and read its resources. `true` adds the tools `list_mcp_resources` and
    /// `read_mcp_resource` to the pool, for this server. `false` hides them from tools for the resources of all servers.
    /// Default: `None`, neither.
    pub resources: Option<bool>,
    /// Whether the annotations of its tools are trusted: they satisfy filters such as `hint:read_only`, let calls run
    /// concurrently, and allow a lost call to be sent again. Annotations of other servers are listed and otherwise
    /// ignored. Default: false.
    pub trusted: bool,
    /// The names of more values that are secret: variables, headers, and arguments as `args[0]`. They are masked in
    /// all text of the server. See the key `secrets` of [`McpConfig`](crate::McpConfig). Default: empty.
    pub secrets: Vec<String>,
    /// Missing values of a disabled server.
    pub(super) lacking: Vec<McpConfigProblem>,
    /// Values of its variables, by name.
    pub(super) found: BTreeMap<String, Secret>,
}

impl McpServerConfig {
    fn from_transport(transport: McpTransportConfig) -> Self {
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
            transforms: BTreeMap::new(),
            prefix: None,
            resources: None,
            trusted: false,
            secrets: Vec::new(),
            lacking: Vec::new(),
            found: BTreeMap::new(),
        }
    }

    /// A server with a transport.
    pub fn new(transport: impl Into<McpTransportConfig>) -> Self {
        Self::from_transport(transport.into())
    }

    /// A server that is started by a command: a program in `PATH`, or the path of one.
    pub fn stdio(command: impl Into<McpText>) -> Self {
        Self::new(StdioConfig::new(command))
    }

    /// A server over HTTP, at an `http` or `https` address.
    pub fn http(url: impl Into<McpText>) -> Self {
        Self::new(HttpConfig::new(url))
    }

    /// Adds an argument of the command. No effect over HTTP.
    #[must_use]
    pub fn arg(self, arg: impl Into<Secret>) -> Self {
        self.args([arg])
    }

    /// Adds arguments of the command. No effect over HTTP.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<Secret>>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.args.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// Sets a variable of the command's environment. No effect over HTTP.
    #[must_use]
    pub fn env(mut self, name: impl Into<McpText>, value: impl Into<Secret>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the working directory of the command. No effect over HTTP.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<McpText>) -> Self {
        if let McpTransportConfig::Stdio(stdio) = &mut self.transport {
            stdio.cwd = Some(cwd.into());
        }
        self
    }

    /// Sets a header of every request. No effect over stdio.
    #[must_use]
    pub fn header(mut self, name: impl Into<McpText>, value: impl Into<Secret>) -> Self {
        if let McpTransportConfig::Http(http) = &mut self.transport {
            http.headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets a bearer token. No effect over stdio.
    #[must_use]
    pub fn bearer(self, token: impl Into<Secret>) -> Self {
        self.auth(McpAuth::Bearer(token.into()))
    }

    /// Sets the authentication. No effect over stdio.
    #[must_use]
    pub fn auth(mut self, auth: McpAuth) -> Self {
        if let McpTransportConfig::Http(http) = &mut self.transport {
            http.auth = Some(auth);
        }
        self
    }

    /// Sets whether the server is used. Default: true.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets whether a manager fails to start without it. Default: false.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Sets the description for people.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the time limit of connecting and listing tools.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Sets the limit on the time of a call without progress.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = Some(limit);
        self
    }

    /// Sets the call timeout of a tool, by the server's name.
    #[must_use]
    pub fn tool_timeout(mut self, tool: impl Into<String>, limit: Duration) -> Self {
        self.tool_timeouts.insert(tool.into(), limit);
        self
    }

    /// Includes the tools that match a pattern, by the server's names. Tools that match no such pattern are left out.
    #[must_use]
    pub fn include(mut self, pattern: ToolPattern) -> Self {
        self.include.get_or_insert_default().push(pattern);
        self
    }

    /// Excludes the tools that match a pattern, by the server's names.
    #[must_use]
    pub fn exclude(mut self, pattern: ToolPattern) -> Self {
        self.exclude.push(pattern);
        self
    }

    /// Changes the name, descriptions and arguments of a tool, by the server's name. A new name follows the prefix.
    ///
    /// ```
    /// # use tool_runtime::mcp::McpServerConfig;
    /// use tool_runtime::transform::ToolTransform;
    ///
    /// let mail = McpServerConfig::stdio("mcp-server-mail")
    ///     .transform("msg_send", ToolTransform::new().name("send").fix("account", "work"));
    /// assert!(mail.transforms.contains_key("msg_send"));
    /// ```
    #[must_use]
    pub fn transform(mut self, tool: impl Into<String>, transform: ToolTransform) -> Self {
        self.transforms.insert(tool.into(), transform);
        self
    }

    /// Sets the prefix of its tools' ids. Default: its name.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets whether models can list and read its resources, see the field `resources`. Default: not set.
    #[must_use]
    pub fn resources(mut self, resources: bool) -> Self {
        self.resources = Some(resources);
        self
    }

    /// Sets whether the annotations of its tools are trusted, see the field `trusted`. Default: false.
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

    /// Marks a value as secret, by the name of its variable or header, or an argument, as `args[0]`: see the field
    /// `secrets`.
    ///
    /// ```
    /// # use tool_runtime::mcp::{McpConfig, McpServerConfig};
    /// let server = McpServerConfig::stdio("db").args(["--user", "8fQm2x1v"]).env("PLACE", "1vXk9p").secret("PLACE");
    /// McpConfig::new().with("db", server.secret("args[1]")).validate()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>) -> Self {
        self.secrets.push(name.into());
        self
    }

    /// Whether a tool is included and not excluded, by the server's name.
    ///
    /// ```
    /// # use tool_runtime::mcp::McpServerConfig;
    /// let server = McpServerConfig::stdio("files").include("read_*".parse()?).exclude("read_all".parse()?);
    /// assert!(server.includes("read_text"));
    /// assert!(!server.includes("read_all") && !server.includes("write"));
    /// # Ok::<(), tool_runtime::matching::PatternError>(())
    /// ```
    pub fn includes(&self, tool: &str) -> bool {
        let any = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| matches(pattern, tool));
        self.include.as_deref().is_none_or(any) && !any(&self.exclude)
    }
}

/// Whether a pattern matches a tool, by the server's name.
pub(super) fn matches(pattern: &ToolPattern, tool: &str) -> bool {
    // In a glob, `*` stops at slashes, and `?` is one byte: these names may hold any character.
    let flat = || tool.replace(|c: char| c == '/' || !c.is_ascii(), "\u{1}");
    pattern.matches(tool) || pattern.matches(&flat())
}
