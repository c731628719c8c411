//! Finds the servers in a document.

use super::dialects;
use super::findings::{Findings, Location};
use super::read::looks_like_entry;
use serde_json::{Map, Value};
use tool_runtime_core::seam::{nearest, printable};

/// Keys of maps of servers.
const WRAPPERS: &[&str] =
    &["mcpServers", "mcp_servers", "servers", "context_servers", "amp.mcpServers"];

/// A key that is a map of servers in some files, and other settings in others.
const AMBIGUOUS_WRAPPER: &str = "mcp";

const HELP: &str = r#"write `{ "mcpServers": { "NAME": { "command": ".." } } }`"#;

/// The entry of a server as it was written.
pub(super) struct ServerEntry {
    pub(super) name: String,
    pub(super) location: Location,
    pub(super) entry: Value,
}

/// The entries of a document. Other keys next to a wrapper are ignored with a warning.
pub(super) fn entries(
    document: Value,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    let Value::Object(document) = document else {
        findings.problem(location, "this is not an object", HELP);
        return Vec::new();
    };
    if let Some(found) = dialects::entries(&document, location, findings) {
        return found;
    }
    if has_servers(&document) {
        return wrapped(document, location, findings);
    }
    let is_wrapper = |value: &Value| value.as_object().is_some_and(contains_servers);
    if document.get(AMBIGUOUS_WRAPPER).is_some_and(is_wrapper) {
        return ambiguous(document, location, findings);
    }
    if report_misspelt(&document, location, findings) {
        return Vec::new();
    }
    if looks_like_entry(&Value::Object(document.clone())) {
        findings.problem(location, "this is the entry of a server without its name", HELP);
        return Vec::new();
    }
    if !document.is_empty() && !document.values().any(looks_like_entry) {
        findings.problem(location, "the file lists no servers", HELP);
        return Vec::new();
    }
    map(document, location, findings)
}

/// Whether an object wraps servers.
pub(super) fn has_servers(object: &Map<String, Value>) -> bool {
    WRAPPERS.iter().any(|wrapper| object.contains_key(*wrapper))
}

/// Whether an object wraps servers, or is a map of them.
fn contains_servers(object: &Map<String, Value>) -> bool {
    has_servers(object) || object.values().any(looks_like_entry)
}

fn wrapped(
    document: Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    report_misspelt(&document, location, findings);
    let (servers, others): (Vec<_>, Vec<_>) =
        document.into_iter().partition(|(key, _)| WRAPPERS.contains(&key.as_str()));
    warn_of_ignored(&others, location, findings);
    let mut found = Vec::new();
    for (key, value) in servers {
        let location = location.key(&key);
        match value {
            Value::Object(servers) => found.extend(map(servers, &location, findings)),
            Value::Array(servers) => found.extend(dialects::listed(servers, &location, findings)),
            Value::Null => {}
            _ => findings.problem(&location, "this is not a map of servers", HELP),
        }
    }
    found
}

fn ambiguous(
    mut document: Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    let inner = document.shift_remove(AMBIGUOUS_WRAPPER).unwrap_or_default();
    let others: Vec<_> = document.into_iter().collect();
    warn_of_ignored(&others, location, findings);
    entries(inner, &location.key(AMBIGUOUS_WRAPPER), findings)
}

fn map(
    servers: Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    let mut found = Vec::new();
    for (name, entry) in servers {
        let location = location.server(&name);
        if name.trim().is_empty() {
            findings.problem(&location, "the name of the server is empty", "give it one");
        } else if name != "$schema" {
            found.push(ServerEntry { name, location, entry });
        }
    }
    found
}

/// Adds a warning about ignored keys.
fn warn_of_ignored(others: &[(String, Value)], location: &Location, findings: &mut Findings) {
    let keys = others.iter().map(|(key, _)| key.as_str()).filter(|key| *key != "$schema");
    let keys: Vec<String> = keys.map(|key| format!("`{}`", printable(key))).collect();
    if !keys.is_empty() {
        let text = format!("other keys beside the servers are ignored: {}", keys.join(", "));
        findings.warn(location, text, "remove them if they are not needed");
    }
}

/// Reports keys that are probably misspelt wrappers.
fn report_misspelt(
    document: &Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> bool {
    let mut is_found = false;
    for (key, value) in document {
        let is_wrapper = WRAPPERS.contains(&key.as_str());
        let has_entries = value.as_object().is_some_and(|map| map.values().any(looks_like_entry));
        if is_wrapper || !has_entries || looks_like_entry(value) {
            continue;
        }
        if let Some(near) = nearest(key, WRAPPERS.iter().copied(), 1).first() {
            let help = format!("did you mean `{near}`?");
            findings.problem(&location.key(key), "servers cannot be under this key", help);
            is_found = true;
        }
    }
    is_found
}
