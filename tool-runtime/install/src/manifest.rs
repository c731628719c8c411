//! `manifest.json` of a bundle, version 0.3 of the format MCPB.

use crate::package::Package;
use serde_json::{Map, Value, json};
use tool_runtime_core::pool::ToolPool;

/// A variable that the client asks its user for.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) is_secret: bool,
}

impl Variable {
    /// The name of the setting whose value the variable gets.
    pub(crate) fn setting(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}

/// The contents of a manifest.
pub(crate) struct Manifest<'a> {
    pub(crate) package: &'a Package,
    pub(crate) author: &'a str,
    /// The file of the program in the bundle.
    pub(crate) program: &'a str,
    /// Arguments of the server, after `serve`.
    pub(crate) arguments: &'a [String],
    pub(crate) variables: &'a [Variable],
}

impl Manifest<'_> {
    pub(crate) fn json(&self, pool: &ToolPool) -> Value {
        let Package { name, version, title, repository, homepage, license, .. } = self.package;
        let arguments: Vec<&str> =
            ["serve"].into_iter().chain(self.arguments.iter().map(String::as_str)).collect();
        let mut manifest = json!({
            "manifest_version": "0.3",
            "name": name,
            "display_name": title.as_ref().unwrap_or(name),
            "version": version,
            "description": self.package.description,
            "author": { "name": self.author },
            "server": {
                "type": "binary",
                "entry_point": self.program,
                "mcp_config": {
                    "command": format!("${{__dirname}}/{}", self.program),
                    "args": arguments,
                    "env": self.environment(),
                },
            },
            "tools": tools(pool),
            "compatibility": { "platforms": [platform()] },
        });
        if !pool.prompts().is_empty() {
            manifest["prompts_generated"] = json!(true);
        }
        if !repository.is_empty() {
            manifest["repository"] = json!({ "type": "git", "url": repository });
        }
        for (key, text) in [("homepage", homepage), ("license", license)] {
            if !text.is_empty() {
                manifest[key] = json!(text);
            }
        }
        if !self.variables.is_empty() {
            manifest["user_config"] = Value::Object(self.user_config());
        }
        manifest
    }

    fn environment(&self) -> Map<String, Value> {
        let reference = |variable: &Variable| {
            let value = format!("${{user_config.{}}}", variable.setting());
            (variable.name.clone(), json!(value))
        };
        self.variables.iter().map(reference).collect()
    }

    fn user_config(&self) -> Map<String, Value> {
        let entry = |variable: &Variable| {
            let entry = json!({
                "type": "string",
                "title": variable.name,
                "description": variable.description,
                "required": true,
                "sensitive": variable.is_secret,
            });
            (variable.setting(), entry)
        };
        self.variables.iter().map(entry).collect()
    }
}

/// The tools of the program itself.
fn tools(pool: &ToolPool) -> Vec<Value> {
    let report = pool.report();
    let is_own = |name: &str| {
        report.tools.iter().any(|tool| tool.name == name && !tool.source.is_external())
    };
    let tools = pool.tools();
    let definitions = tools.iter().map(|tool| tool.definition());
    let own = definitions.filter(|definition| is_own(&definition.name));
    own.map(|it| json!({ "name": it.name, "description": it.description })).collect()
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        _ => "linux",
    }
}
