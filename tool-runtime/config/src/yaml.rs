//! Parses YAML to JSON values.

use super::findings::{Findings, Place};
use serde_json::Value;

/// Parses a text.
#[cfg(feature = "yaml")]
pub(super) fn parse(text: &str, place: &Place, findings: &mut Findings) -> Option<Value> {
    match super::json::unique(serde_norway::Deserializer::from_str(text), place, findings) {
        Ok(value) => Some(value),
        Err(error) => {
            // The error's own text may show values.
            let at = error.location();
            let at = at.map(|at| format!(", at line {} column {}", at.line(), at.column()));
            let text = format!("this is not valid YAML{}", at.unwrap_or_default());
            findings.wrong(place, text, "correct it there");
            None
        }
    }
}

#[cfg(not(feature = "yaml"))]
pub(super) fn parse(_: &str, place: &Place, findings: &mut Findings) -> Option<Value> {
    let text = "this program cannot read YAML";
    let forms = if cfg!(feature = "toml") { "JSON or TOML" } else { "JSON" };
    let help = format!("write {forms}, or build it with the feature `yaml` of `tool-runtime`");
    findings.wrong(place, text, help);
    None
}
