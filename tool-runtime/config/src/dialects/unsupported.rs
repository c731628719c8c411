//! Forms that are recognised and not read.

use super::super::read::looks_like_entry;
use super::super::wrapper::has_servers;
use serde_json::{Map, Value};

/// A form: the path of a key that only it has, and what to write instead.
type Form = (&'static [&'static str], &'static str);

const FORMS: &[Form] = &[
    (
        &["experimental", "modelContextProtocolServers"],
        "write the servers as Continue's list `mcpServers`, each with `name` and `command` or `url`",
    ),
    (
        &["openctx.providers"],
        r#"write each server as `{ "mcpServers": { "NAME": { "command": ".." } } }`"#,
    ),
    (
        &["mcp", "stdio_servers"],
        "write each item as `[mcpServers.NAME]` with `command`, `args` and `env`",
    ),
    (&["mcp", "shttp_servers"], "write each item as `[mcpServers.NAME]` with `url`"),
    (
        &["mcp", "sse_servers"],
        r#"write each item as `[mcpServers.NAME]` with `url` and `type = "sse"`"#,
    ),
    (
        &["startCommand"],
        "this describes how a server is built for Smithery; write the `command` and `args` that start it under `mcpServers`",
    ),
    (
        &["packages"],
        "this describes a server for the MCP registry; write the command that runs its package, such as `npx -y NAME`, under `mcpServers`",
    ),
    (
        &["remotes"],
        "this describes a server for the MCP registry; write its `url` under `mcpServers`",
    ),
    (
        &["registry"],
        "this is a catalog of Docker images; write `docker` with `args: [run, -i, --rm, IMAGE]` under `mcpServers`",
    ),
    (
        &["projects"],
        "these are the settings of Claude Code; name the `.mcp.json` of the project instead",
    ),
];

/// The key of the form that a document has, and what to write instead.
pub(super) fn find(document: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    if has_servers(document) {
        return None;
    }
    let (path, help) = FORMS.iter().find(|(path, _)| has(document, path))?;
    Some((path[0], help))
}

/// Whether a document has a list or an object at a path, which is not the entry of a server of that name.
fn has(document: &Map<String, Value>, path: &[&str]) -> bool {
    let (first, rest) = path.split_first().expect("paths have keys");
    let first = document.get(*first).filter(|value| !looks_like_entry(value));
    let value = first.and_then(|value| rest.iter().try_fold(value, |value, key| value.get(key)));
    match path {
        ["packages" | "remotes"] => value.is_some_and(Value::is_array),
        _ => value.is_some_and(|value| value.is_object() || value.is_array()),
    }
}
