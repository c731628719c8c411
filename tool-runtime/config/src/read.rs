//! Reads an entry of a configuration as a server.

mod auth;
mod entry;
mod env_file;
mod http;
mod keys;
mod oauth;
mod stdio;
mod time;
mod tools;
mod transform;
mod transport;
mod values;

#[cfg(test)]
pub(super) use keys::known_keys;
pub(super) use keys::looks_like_entry;

use super::check;
use super::findings::{Findings, Location};
use super::problem::McpConfigProblem;
use super::server::McpServerConfig;
use super::sources::Sources;
use super::transport::StdioConfig;
use entry::Entry;
use serde_json::Value;
use std::collections::BTreeMap;
use tool_runtime_core::vocabulary::Secret;
use tool_runtime_core::vocabulary::content::Icon;

/// The context of reading an entry.
pub(super) struct Reader<'a> {
    sources: &'a Sources,
    findings: &'a mut Findings,
    /// Missing values of a disabled server.
    lacking: Option<Vec<McpConfigProblem>>,
    /// The values of variables, by their names.
    found: BTreeMap<String, Secret>,
}

/// Reads an entry, and records all of its problems. `None` if it has no transport.
pub(super) fn server(
    location: &Location,
    value: &Value,
    sources: &Sources,
    findings: &mut Findings,
) -> Option<McpServerConfig> {
    let Value::Object(object) = value else {
        findings.problem(
            location,
            "is not an entry of a server",
            r#"write `{ "command": .. }` or `{ "url": .. }`"#,
        );
        return None;
    };
    let mut entry = Entry::read(location, object, keys::SERVER, findings);
    let mut reader = Reader { sources, findings, lacking: None, found: BTreeMap::new() };
    let enabled = reader.enabled(&mut entry);
    reader.lacking = (!enabled).then(Vec::new);
    let transport = reader.transport(&mut entry);
    let is_reached = transport.is_some();
    let mut server =
        McpServerConfig::new(transport.unwrap_or_else(|| StdioConfig::new("unknown").into()));
    server.enabled = enabled;
    reader.settings(&mut entry, &mut server);
    if server.required && enabled {
        reader.findings.required.extend(location.server_name().map(str::to_owned));
    }
    server.lacking = reader.lacking.unwrap_or_default();
    server.found = reader.found;
    if enabled {
        check::server(&server, |key| entry.location_of(key), findings);
    }
    is_reached.then_some(server)
}

/// A text with the values of its variables.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The text, which may be a secret.
    pub text: Secret,
    /// The variables, by their names.
    pub variables: BTreeMap<String, Secret>,
}

/// The text with the values of its variables.
///
/// # Errors
/// Each mistake and its remedy.
pub(super) fn expand(text: &str, sources: &Sources) -> Result<Expanded, Vec<(String, String)>> {
    let (mut findings, location) = (Findings::default(), Location::from_file(None));
    let mut reader =
        Reader { sources, findings: &mut findings, lacking: None, found: BTreeMap::new() };
    let expanded = reader.expanded(&location, text);
    let variables = reader.found;
    match expanded {
        Some(text) => Ok(Expanded { text: Secret::from(text.as_str()), variables }),
        None => {
            let problems = findings.problems.into_iter();
            Err(problems.map(|problem| (problem.text, problem.help)).collect())
        }
    }
}

impl Reader<'_> {
    /// Reads `enabled`, or the opposite of `disabled`. Default: true.
    fn enabled(&mut self, entry: &mut Entry<'_>) -> bool {
        let enabled = self.flag(entry, &["enabled", "is_active"]);
        let disabled = self.flag(entry, &["disabled"]);
        if enabled.is_some() && enabled == disabled {
            let location = entry.location_of("disabled");
            self.findings.problem(&location, "it contradicts `enabled`", "keep one of the two");
        }
        enabled.or(disabled.map(|disabled| !disabled)).unwrap_or(true)
    }

    /// Reads settings of all transports.
    fn settings(&mut self, entry: &mut Entry<'_>, server: &mut McpServerConfig) {
        server.required = self.flag(entry, &["required"]).unwrap_or(false);
        server.resources = self.flag(entry, &["resources"]);
        server.trusted = self.flag(entry, &["trusted"]).unwrap_or(false);
        server.secrets = self.names(entry, "secrets");
        server.description = self.plain(entry, &["description"]);
        server.icon = self.plain(entry, &["icon"]).map(Icon::new);
        server.prefix = self.plain(entry, &["prefix"]);
        self.timeouts(entry, server);
        self.tools(entry, server);
    }
}
