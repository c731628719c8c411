//! Configurations in one line.

use crate::sources::Source;
use crate::{
    HttpConfig, McpConfig, McpConfigError, McpConfigLoader, McpServerConfig, McpTransportConfig,
    StdioConfig,
};
use serde_json::{Value, json};

/// The environment of the tests.
pub(super) const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", "/home/ada"),
    ("TOKEN", "8fQm2x"),
    ("EMPTY", ""),
    ("NESTED", "a${TOKEN}"),
    ("PARTLY", "${"),
];

pub(super) fn loader() -> McpConfigLoader {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    McpConfig::loader().with_source(Source::Environment(ENVIRONMENT.iter().map(owned).collect()))
}

pub(super) fn load(text: &str) -> Result<McpConfig, McpConfigError> {
    loader().json(text).load()
}

/// A configuration with one server, `s`.
pub(super) fn config(entry: Value) -> Result<McpConfig, McpConfigError> {
    loader().value(json!({ "mcpServers": { "s": entry } })).load()
}

pub(super) fn server(entry: Value) -> McpServerConfig {
    let mut config = config(entry).unwrap_or_else(|error| panic!("{error}"));
    config.servers.remove("s").expect("a server")
}

pub(super) fn stdio(entry: Value) -> StdioConfig {
    match server(entry).transport {
        McpTransportConfig::Stdio(stdio) => stdio,
        other => panic!("{other:?}"),
    }
}

pub(super) fn http(entry: Value) -> HttpConfig {
    match server(entry).transport {
        McpTransportConfig::Http(http) => http,
        other => panic!("{other:?}"),
    }
}

/// The problems of an entry, as text.
pub(super) fn problems_of(entry: Value) -> Vec<String> {
    match config(entry) {
        Ok(config) => panic!("it was taken: {config:?}"),
        Err(error) => error.problems.iter().map(ToString::to_string).collect(),
    }
}

/// The warnings about an entry, as text.
pub(super) fn warnings(entry: Value) -> Vec<String> {
    let config = config(entry).unwrap_or_else(|error| panic!("{error}"));
    config.warnings().iter().map(ToString::to_string).collect()
}

pub(super) fn args(config: &StdioConfig) -> Vec<&str> {
    config.args.iter().map(|arg| arg.expose()).collect()
}

/// Names and values, in the order of names.
pub(super) fn pairs<'a>(
    map: impl IntoIterator<Item = (&'a crate::McpText, &'a tool_runtime_core::vocabulary::Secret)>,
) -> Vec<(&'a str, &'a str)> {
    map.into_iter().map(|(name, value)| (name.as_str(), value.expose())).collect()
}
