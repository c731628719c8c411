//! The `manifest.json` of an unpacked MCPB bundle.

use super::super::findings::{Findings, Location};
use super::super::wrapper::ServerEntry;
use serde_json::{Map, Value, json};
use std::path;

const HELP: &str = r#"write `"server": { "mcp_config": { "command": "..", "args": [..] } }`"#;

/// Keys of `mcp_config` that are read.
const READ: [&str; 3] = ["command", "args", "env"];

/// Folders of the user that hosts of bundles know.
const FOLDERS: [(&str, &str); 3] = [
    ("${DESKTOP}", "${HOME}/Desktop"),
    ("${DOCUMENTS}", "${HOME}/Documents"),
    ("${DOWNLOADS}", "${HOME}/Downloads"),
];

/// Whether a document describes a bundle.
pub(super) fn is_manifest(document: &Map<String, Value>) -> bool {
    let has_version =
        ["manifest_version", "dxt_version"].iter().any(|key| document.contains_key(*key));
    has_version && document.contains_key("server")
}

/// The server of a bundle.
pub(super) fn entry(
    document: &Map<String, Value>,
    location: &Location,
    findings: &mut Findings,
) -> Option<ServerEntry> {
    let name = document.get("name").and_then(Value::as_str).unwrap_or("bundle").to_owned();
    let location = location.key("server").key("mcp_config").of_server(&name);
    let Some(Value::Object(config)) = document["server"].get("mcp_config") else {
        findings.problem(&location, "the manifest does not say how its server is started", HELP);
        return None;
    };
    let mut merged = config.clone();
    let overrides = merged.shift_remove("platform_overrides").unwrap_or_default();
    if let Some(Value::Object(overrides)) = overrides.get(platform()) {
        merged.extend(overrides.clone());
    }
    merged.retain(|key, _| READ.contains(&key.as_str()));
    let settings = document.get("user_config").and_then(Value::as_object);
    let values = Values { folder: folder(&location), settings };
    let entry = merged.into_iter().map(|(key, value)| (key, values.replaced(value)));
    let mut entry: Map<String, Value> = entry.collect();
    entry.insert("secrets".to_owned(), values.secrets(config));
    entry
        .insert("description".to_owned(), document.get("description").cloned().unwrap_or_default());
    Some(ServerEntry { name, location, entry: entry.into() })
}

/// The name of this system in manifests.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "windows" => "win32",
        "macos" => "darwin",
        other => other,
    }
}

fn folder(location: &Location) -> Option<String> {
    let folder = path::absolute(location.folder()?).ok()?;
    folder.into_os_string().into_string().ok()
}

/// What the host of a bundle replaces in its configuration.
struct Values<'a> {
    /// The folder of the manifest.
    folder: Option<String>,
    settings: Option<&'a Map<String, Value>>,
}

impl Values<'_> {
    fn replaced(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => {
                items.into_iter().flat_map(|item| self.arguments(item)).collect()
            }
            Value::Object(members) => {
                members.into_iter().map(|(key, value)| (key, self.replaced(value))).collect()
            }
            other => other,
        }
    }

    /// The required settings of a configuration that are secret.
    fn secrets(&self, config: &Map<String, Value>) -> Value {
        let config = Value::from(config.clone()).to_string();
        let is_used = |key: &str| config.contains(&format!("${{user_config.{key}}}"));
        let is_secret =
            |setting: &Value| setting["sensitive"] == true && setting["required"] == true;
        let settings = self.settings.into_iter().flatten();
        let secret = settings.filter(|(key, setting)| is_secret(setting) && is_used(key));
        secret.map(|(key, _)| json!(format!("user_config.{key}"))).collect()
    }

    /// An argument, or several where a setting has a list of values.
    fn arguments(&self, item: Value) -> Vec<Value> {
        let listed = self.settings.into_iter().flatten().find_map(|(key, setting)| {
            let is_meant = item == format!("${{user_config.{key}}}");
            setting["default"].as_array().filter(|_| is_meant)
        });
        match listed {
            Some(values) => values.iter().map(|value| self.replaced(value.clone())).collect(),
            None => vec![self.replaced(item)],
        }
    }

    /// The text, in which settings are variables with their defaults.
    fn text(&self, mut text: String) -> String {
        for (key, setting) in self.settings.into_iter().flatten() {
            text = text.replace(&format!("${{user_config.{key}}}"), &reference(key, setting));
        }
        if let Some(folder) = &self.folder {
            text = text.replace("${__dirname}", folder);
        }
        for (name, meaning) in FOLDERS {
            text = text.replace(name, meaning);
        }
        let separator = path::MAIN_SEPARATOR_STR;
        text.replace("${/}", separator).replace("${pathSeparator}", separator)
    }
}

/// A setting as a variable, which the user sets by `user_config.NAME`.
fn reference(key: &str, setting: &Value) -> String {
    match &setting["default"] {
        Value::Null if setting["required"] == json!(true) => format!("${{user_config.{key}}}"),
        Value::Null => format!("${{user_config.{key}:-}}"),
        Value::String(default) if default.contains("${") => default.clone(),
        Value::String(default) => format!("${{user_config.{key}:-{default}}}"),
        default => format!("${{user_config.{key}:-{default}}}"),
    }
}
