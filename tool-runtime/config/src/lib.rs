//! The standard `mcpServers` configuration.

mod auth;
mod check;
mod command;
mod diagnose;
mod dialects;
mod expand;
mod file;
mod findings;
mod foreign;
mod header;
mod json;
mod literals;
mod loader;
mod lookup;
mod problem;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod read;
mod secrets;
mod server;
mod show;
mod sources;
mod text;
mod toml;
mod transport;
mod unmatched;
mod url;
mod wrapper;
mod yaml;

#[cfg(test)]
mod tests;

pub use auth::{McpAuth, McpOAuth};
pub use diagnose::{McpDiagnosis, McpDiagnosisLevel};
pub use loader::McpConfigLoader;
pub use problem::{McpConfigError, McpConfigProblem};
pub use server::McpServerConfig;
pub use text::McpText;
pub use transport::{HttpConfig, McpTransportConfig, StdioConfig};

#[doc(hidden)]
pub mod seam;

use findings::{Findings, Location};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[doc = include_str!("../../docs/mcp_config.md")]
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct McpConfig {
    /// The servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
    warnings: Vec<McpConfigProblem>,
    left_out: Vec<McpConfigProblem>,
}

impl McpConfig {
    /// A configuration without servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server, replacing another one of that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.servers.insert(name.into(), server);
        self
    }

    /// Parses JSON, with variables from the environment. Comments and trailing commas are skipped. Servers with invalid
    /// entries are left out, see [`McpConfigLoader::load_usable`]; [`McpConfigLoader::load`] rejects them.
    ///
    /// # Errors
    /// All problems, each with the path of its key, if the text cannot be read or a required server has an invalid entry.
    pub fn from_json(text: &str) -> Result<Self, McpConfigError> {
        Self::loader().environment().json(text).load_usable()
    }

    /// Parses TOML, as [`Self::from_json`] parses JSON.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, McpConfigError> {
        Self::loader().environment().toml(text).load_usable()
    }

    /// Reads a file as [`Self::from_json`] does a string: TOML if its name ends in `.toml`, YAML if it ends in `.yaml` or
    /// `.yml`, JSON otherwise.
    ///
    /// # Errors
    /// As [`Self::from_json`]; the file cannot be read.
    ///
    /// ```
    /// use tool_runtime::mcp::McpConfig;
    ///
    /// let error = McpConfig::from_file("no-such-file.json").unwrap_err();
    /// assert!(error.to_string().contains("no-such-file.json"));
    /// ```
    pub fn from_file(path: impl Into<PathBuf>) -> Result<Self, McpConfigError> {
        Self::loader().environment().file(path).load_usable()
    }

    /// Reads a value, as [`Self::from_json`] does a string.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn from_value(value: Value) -> Result<Self, McpConfigError> {
        Self::loader().environment().value(value).load_usable()
    }

    /// Starts a loader for several files and other sources of variables.
    pub fn loader() -> McpConfigLoader {
        McpConfigLoader::default()
    }

    /// Warnings about accepted text: times without a unit, ignored keys of dialects. Empty for a
    /// configuration from code.
    pub fn warnings(&self) -> &[McpConfigProblem] {
        &self.warnings
    }

    /// The problems of the servers that were left out, see [`McpConfigLoader::load_usable`].
    pub fn left_out(&self) -> &[McpConfigProblem] {
        &self.left_out
    }

    /// Checks a configuration from code like one from a file: addresses, headers, names, times. Disabled servers are not
    /// checked. A server that was read as disabled and is enabled now may lack values of variables.
    ///
    /// # Errors
    /// All problems, each with the path of its key.
    ///
    /// ```
    /// use tool_runtime::mcp::{McpConfig, McpServerConfig};
    ///
    /// let web = McpServerConfig::http("javascript:alert(1)").header("Host", "example.com");
    /// let error = McpConfig::new().with("web", web).validate().unwrap_err();
    /// assert_eq!(error.problems.len(), 2);
    /// assert_eq!(error.problems[0].key, "web.url");
    /// ```
    pub fn validate(&self) -> Result<(), McpConfigError> {
        let mut findings = Findings::default();
        for (name, server) in &self.servers {
            self::validate(name, server, &mut findings);
        }
        findings.conclude().map(drop)
    }
}

fn validate(name: &str, server: &McpServerConfig, findings: &mut Findings) {
    let location = Location::from_file(None).server(name);
    if name.trim().is_empty() {
        findings.problem(&location, "the name of the server is empty", "give it one");
    }
    if server.enabled {
        check::server(server, |key| location.key(key), findings);
    }
}
