//! Goose's `extensions`, also with the servers in a list, as in its recipes.

use super::super::findings::{Findings, Location};
use super::super::wrapper::ServerEntry;
use super::list;
use serde_json::{Map, Value, json};

const KEY: &str = "extensions";

/// Types of extensions that are a part of Goose.
const BUILT_IN: [&str; 4] = ["builtin", "platform", "frontend", "inline_python"];

/// Keys that have no effect on a server.
const IGNORED: [&str; 3] = ["name", "display_name", "bundled"];

/// The extensions of a document, if it has any that are of Goose.
pub(super) fn extensions(document: &Map<String, Value>) -> Option<&Value> {
    let extensions = document.get(KEY)?;
    let is_found = match extensions {
        Value::Object(extensions) => extensions.values().any(is_extension),
        Value::Array(extensions) => extensions.iter().any(is_extension),
        _ => false,
    };
    is_found.then_some(extensions)
}

fn is_extension(value: &Value) -> bool {
    let value = value.get("config").unwrap_or(value);
    let kind = value["type"].as_str().unwrap_or_default();
    ["cmd", "uri"].iter().any(|key| value.get(key).is_some()) || BUILT_IN.contains(&kind)
}

/// The servers among the extensions. Those that are a part of Goose are left out with a warning.
pub(super) fn entries(
    extensions: &Value,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    let location = location.key(KEY);
    let found = match extensions.clone() {
        Value::Object(extensions) => named(extensions, &location),
        Value::Array(extensions) => list::entries(extensions, &location, findings),
        _ => Vec::new(),
    };
    let found = found.into_iter().map(|found| ServerEntry { entry: plain(found.entry), ..found });
    found.filter(|found| !is_built_in(found, findings)).collect()
}

fn named(extensions: Map<String, Value>, location: &Location) -> Vec<ServerEntry> {
    let found = |(name, entry): (String, Value)| ServerEntry {
        location: location.server(&name),
        name,
        entry,
    };
    extensions.into_iter().map(found).collect()
}

/// An entry without what has no effect. Times are in seconds.
fn plain(mut entry: Value) -> Value {
    let Value::Object(members) = &mut entry else { return entry };
    // Older files have the settings in an object of their own.
    if let Some(Value::Object(config)) = members.shift_remove("config") {
        members.extend(config);
    }
    members.retain(|key, _| !IGNORED.contains(&key.as_str()));
    // Over HTTP they are the names of variables in headers, which are read anyway.
    if members.contains_key("uri") {
        members.retain(|key, _| !["envs", "env_keys"].contains(&key.as_str()));
    }
    if let Some(limit) = members.get_mut("timeout").filter(|limit| limit.is_number()) {
        *limit = json!(format!("{limit}s"));
    }
    entry
}

fn is_built_in(found: &ServerEntry, findings: &mut Findings) -> bool {
    let kind = found.entry["type"].as_str().unwrap_or_default();
    if !BUILT_IN.contains(&kind) {
        return false;
    }
    if found.entry["enabled"] != false {
        let text = format!("an extension of type `{kind}` is a part of Goose, and left out");
        let help = "remove it, or name a server of its own by `type: stdio` and `cmd`";
        findings.warn(&found.location, text, help);
    }
    true
}
