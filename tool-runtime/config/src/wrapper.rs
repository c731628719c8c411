//! Finds the servers in a document.

use super::findings::{Findings, Place};
use super::read::looks_like_entry;
use serde_json::{Map, Value};
use tool_runtime_core::seam::{nearest, printable};

/// Keys of maps of servers.
const WRAPPERS: &[&str] = &["mcpServers", "mcp_servers", "servers", "context_servers"];

/// A key of such a map in some files, and of other settings in others.
const LOOSE: &str = "mcp";

const HELP: &str = r#"write `{ "mcpServers": { "NAME": { "command": ".." } } }`"#;

/// A server's entry, unread.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) entry: Value,
}

/// The entries of a document. Other keys beside a wrapper are ignored with a warning.
pub(super) fn entries(document: Value, place: &Place, findings: &mut Findings) -> Vec<Found> {
    let Value::Object(document) = document else {
        findings.wrong(place, "this is not an object", HELP);
        return Vec::new();
    };
    if WRAPPERS.iter().any(|wrapper| document.contains_key(*wrapper)) {
        return wrapped(document, place, findings);
    }
    let is_loose = |value: &Value| value.as_object().is_some_and(holds_servers);
    if document.get(LOOSE).is_some_and(is_loose) {
        return loose(document, place, findings);
    }
    if misspelt(&document, place, findings) {
        return Vec::new();
    }
    if looks_like_entry(&Value::Object(document.clone())) {
        findings.wrong(place, "this is the entry of a server without its name", HELP);
        return Vec::new();
    }
    if !document.is_empty() && !document.values().any(looks_like_entry) {
        findings.wrong(place, "the file lists no servers", HELP);
        return Vec::new();
    }
    map(document, place, findings)
}

/// Whether an object wraps servers, or is a map of them.
fn holds_servers(object: &Map<String, Value>) -> bool {
    let has_wrapper = WRAPPERS.iter().any(|wrapper| object.contains_key(*wrapper));
    has_wrapper || object.values().any(looks_like_entry)
}

fn wrapped(document: Map<String, Value>, place: &Place, findings: &mut Findings) -> Vec<Found> {
    misspelt(&document, place, findings);
    let (servers, others): (Vec<_>, Vec<_>) =
        document.into_iter().partition(|(key, _)| WRAPPERS.contains(&key.as_str()));
    beside(&others, place, findings);
    let mut found = Vec::new();
    for (key, value) in servers {
        let place = place.key(&key);
        match value {
            Value::Object(servers) => found.extend(map(servers, &place, findings)),
            Value::Null => {}
            _ => findings.wrong(&place, "this is not a map of servers", HELP),
        }
    }
    found
}

fn loose(mut document: Map<String, Value>, place: &Place, findings: &mut Findings) -> Vec<Found> {
    let inner = document.shift_remove(LOOSE).unwrap_or_default();
    let others: Vec<_> = document.into_iter().collect();
    beside(&others, place, findings);
    entries(inner, &place.key(LOOSE), findings)
}

fn map(servers: Map<String, Value>, place: &Place, findings: &mut Findings) -> Vec<Found> {
    let mut found = Vec::new();
    for (name, entry) in servers {
        let place = place.server(&name);
        if name.trim().is_empty() {
            findings.wrong(&place, "the name of the server is empty", "give it one");
        } else if name != "$schema" {
            found.push(Found { name, place, entry });
        }
    }
    found
}

/// Adds a warning about ignored keys.
fn beside(others: &[(String, Value)], place: &Place, findings: &mut Findings) {
    let keys = others.iter().map(|(key, _)| key.as_str()).filter(|key| *key != "$schema");
    let keys: Vec<String> = keys.map(|key| format!("`{}`", printable(key))).collect();
    if !keys.is_empty() {
        let text = format!("other keys beside the servers are ignored: {}", keys.join(", "));
        findings.warn(place, text, "remove them if they are not needed");
    }
}

/// Reports keys that are probably misspelt wrappers.
fn misspelt(document: &Map<String, Value>, place: &Place, findings: &mut Findings) -> bool {
    let mut is_found = false;
    for (key, value) in document {
        let is_wrapper = WRAPPERS.contains(&key.as_str());
        let has_entries = value.as_object().is_some_and(|map| map.values().any(looks_like_entry));
        if is_wrapper || !has_entries || looks_like_entry(value) {
            continue;
        }
        if let Some(near) = nearest(key, WRAPPERS.iter().copied(), 1).first() {
            let help = format!("did you mean `{near}`?");
            findings.wrong(&place.key(key), "servers cannot be under this key", help);
            is_found = true;
        }
    }
    is_found
}
