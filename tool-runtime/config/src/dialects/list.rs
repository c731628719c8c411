//! Lists of servers with names, as Continue and Goose's recipes write them.

use super::super::findings::{Findings, Location};
use super::super::wrapper::ServerEntry;
use serde_json::{Map, Value, json};

/// Keys of Continue that say where an entry comes from.
const IGNORED: [&str; 4] = ["name", "serverName", "faviconUrl", "sourceFile"];

/// The entries of a list. `${{ secrets.NAME }}` becomes `${NAME}`.
pub(crate) fn entries(
    items: Vec<Value>,
    location: &Location,
    findings: &mut Findings,
) -> Vec<ServerEntry> {
    let mut found = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let location = location.index(index);
        let name = item.get("name").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let (name, Value::Object(entry)) = (name.to_owned(), item) else {
            let help = "write `- name: NAME` with `command: ..` or `url: ..`";
            findings.problem(&location, "is not an entry of a server", help);
            continue;
        };
        if entry.contains_key("uses") {
            let help = "copy the `command` or `url` of the block into the entry";
            findings.warn(&location, "a block of Continue's hub (`uses`) is not read", help);
            continue;
        }
        if name.is_empty() {
            findings.problem(&location, "the server has no name", "add `name: NAME`");
            continue;
        }
        let location = location.of_server(&name);
        found.push(ServerEntry { name, location, entry: entry_of(entry) });
    }
    found
}

fn entry_of(mut entry: Map<String, Value>) -> Value {
    entry.retain(|key, _| !IGNORED.contains(&key.as_str()));
    if let Some(Value::Object(options)) = entry.get_mut("requestOptions") {
        let headers = options.shift_remove("headers");
        if let Some(headers) = headers {
            entry.entry("headers").or_insert(headers);
        }
    }
    if let Some(limit) = entry.get_mut("connectionTimeout").filter(|limit| limit.is_number()) {
        *limit = json!(format!("{limit}ms"));
    }
    let mut entry = Value::Object(entry);
    replace_secrets(&mut entry);
    entry
}

/// Replaces `${{ secrets.NAME }}` and `${{ inputs.NAME }}` in all strings.
fn replace_secrets(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(replaced) = with_variables(text) {
                *value = json!(replaced);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(replace_secrets),
        Value::Object(members) => members.values_mut().for_each(replace_secrets),
        _ => {}
    }
}

fn with_variables(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("${{")?;
    let (name, after) = rest.split_once("}}")?;
    let name = name.trim();
    let name = name.strip_prefix("secrets.").or(name.strip_prefix("inputs.")).unwrap_or(name);
    let after = with_variables(after).unwrap_or_else(|| after.to_owned());
    Some(format!("{before}${{{name}}}{after}"))
}
