//! Parses TOML to JSON values.

use super::findings::{Findings, Location};
use serde_json::Value;

/// Parses a string.
#[cfg(feature = "toml")]
pub(super) fn parse(text: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
    match toml::from_str::<toml::Table>(text) {
        Ok(table) => Some(json(toml::Value::Table(table))),
        Err(error) => {
            // The text of the error contains the line.
            let position = error.span().map(|span| position(text, span.start)).unwrap_or_default();
            let text = format!("this is not valid TOML: {}{position}", error.message().trim_end());
            findings.problem(location, text, "correct it there");
            None
        }
    }
}

#[cfg(not(feature = "toml"))]
pub(super) fn parse(_: &str, location: &Location, findings: &mut Findings) -> Option<Value> {
    let text = "this program cannot read TOML";
    findings.problem(
        location,
        text,
        "write JSON, or build it with the feature `toml` of `tool-runtime`",
    );
    None
}

#[cfg(feature = "toml")]
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => {
            table.into_iter().map(|(key, value)| (key, json(value))).collect()
        }
    }
}

#[cfg(feature = "toml")]
fn position(text: &str, index: usize) -> String {
    let before = text.get(..index).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(" at line {line} column {column}")
}
