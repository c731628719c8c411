//! Displays a configuration.

use super::McpConfig;
use super::server::McpServerConfig;
use super::text::McpText;
use super::transport::{HttpConfig, McpTransportConfig, StdioConfig};
use super::url;
use std::fmt;
use tool_runtime_core::seam::printable;

/// A line per server: its transport, and names of variables and headers. It shows no value of an argument, variable, header
/// or token.
///
/// ```
/// use tool_runtime::mcp::{McpConfig, McpServerConfig};
///
/// let files = McpServerConfig::stdio("npx").args(["-y", "files"]).env("TOKEN", "8fQm2x");
/// let web = McpServerConfig::http("https://example.com/mcp").bearer("1vXk9p").enabled(false);
/// let config = McpConfig::new().with("files", files).with("web", web);
/// assert_eq!(
///     config.to_string(),
///     "files: starts `npx` with 2 arguments and `TOKEN`\n\
///      web: asks `https://example.com/mcp` by a bearer token (disabled)",
/// );
/// ```
impl fmt::Display for McpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, server)) in self.servers.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}: {server}", printable(name))?;
        }
        Ok(())
    }
}

/// The line of the server in its configuration.
impl fmt::Display for McpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.transport {
            McpTransportConfig::Stdio(config) => stdio(config, f)?,
            McpTransportConfig::Http(config) => http(config, f)?,
        }
        f.write_str(if self.enabled { "" } else { " (disabled)" })
    }
}

fn stdio(config: &StdioConfig, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "starts `{}`", config.command.redacted())?;
    let args = match config.args.len() {
        0 => None,
        1 => Some("1 argument".to_owned()),
        count => Some(format!("{count} arguments")),
    };
    let details: Vec<String> = args.into_iter().chain(names(config.env.keys())).collect();
    if !details.is_empty() {
        write!(f, " with {}", details.join(" and "))?;
    }
    match &config.cwd {
        Some(cwd) => write!(f, " in `{}`", cwd.redacted()),
        None => Ok(()),
    }
}

fn http(config: &HttpConfig, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "asks `{}`", url::redact(config.url.redacted()))?;
    if let Some(names) = names(config.headers.keys()) {
        write!(f, " with {names}")?;
    }
    if let Some(auth) = &config.auth {
        write!(f, " by {}", auth.kind())?;
    }
    f.write_str(if config.legacy_sse { " (legacy SSE)" } else { "" })
}

fn names<'a>(names: impl Iterator<Item = &'a McpText>) -> Option<String> {
    let names: Vec<String> = names.map(|name| format!("`{}`", name.redacted())).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
