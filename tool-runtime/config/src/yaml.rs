//! Parses YAML to JSON values.

use super::findings::{Findings, Location};
use serde_json::Value;

/// Parses a string.
#[cfg(feature = "yaml")]
pub(super) fn parse(text: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
    match super::json::unique(serde_norway::Deserializer::from_str(text), location, findings) {
        Ok(value) => Some(value),
        Err(error) => {
            // The text of the error may contain values.
            let position = error.location();
            let position = position.map(|position| {
                format!(", at line {} column {}", position.line(), position.column())
            });
            let text = format!("this is not valid YAML{}", position.unwrap_or_default());
            findings.problem(location, text, "correct it there");
            None
        }
    }
}

#[cfg(not(feature = "yaml"))]
pub(super) fn parse(_: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
    let text = "this program cannot read YAML";
    let forms = if cfg!(feature = "toml") { "JSON or TOML" } else { "JSON" };
    let help = format!("write {forms}, or build it with the feature `yaml` of `tool-runtime`");
    findings.problem(location, text, help);
    None
}
