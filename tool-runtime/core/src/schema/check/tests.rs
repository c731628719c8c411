//! The issues that the walker reports.

mod assertions;
mod keywords;
mod limits;
mod names;
mod properties;
mod references;
mod secrets;
mod types;
mod unions;

use serde_json::Value;

use crate::schema::check::location::DocumentKind;
use crate::schema::check::walked_with;
use crate::schema::engine;
use crate::vocabulary::error::Issue;

/// Checks arguments, including patterns and formats.
fn check(schema: &Value, arguments: &Value) -> Vec<Issue> {
    engine::enable();
    super::check(schema, arguments)
}

/// A schema, arguments, and the issues as "path rule: message".
type Row = (Value, Value, &'static [&'static str]);

/// The issues as "path rule: message".
fn messages(schema: &Value, arguments: &Value) -> Vec<String> {
    let issues = check(schema, arguments);
    issues.iter().map(|issue| format!("{} {}: {issue}", issue.path(), issue.rule())).collect()
}

/// Checks each row.
fn assert_messages(rows: &[Row]) {
    for (schema, arguments, expected) in rows {
        assert_eq!(messages(schema, arguments), *expected, "{arguments} by {schema}");
    }
}

/// Checks each row, whose schema is that of the argument `a` and whose value is that argument.
fn assert_messages_of_a(rows: &[Row]) {
    for (schema, value, expected) in rows {
        let schema = serde_json::json!({ "properties": { "a": schema }, "required": ["a"] });
        let arguments = serde_json::json!({ "a": value });
        let messages: Vec<String> =
            check(&schema, &arguments).iter().map(ToString::to_string).collect();
        assert_eq!(messages, *expected, "{arguments} by {schema}");
    }
}

#[test]
fn unsupported_patterns_and_formats_are_reported() {
    for keyword in ["pattern", "format"] {
        let schema = serde_json::json!({ "properties": { "a": { keyword: "date" } } });
        let value = serde_json::json!({ "a": "2026-02-28" });
        let issues = walked_with(None, &schema, &value, DocumentKind::Arguments);
        assert!(issues[0].message().contains("cannot be checked"), "{keyword}: {issues:?}");
    }
    let others =
        serde_json::json!({ "properties": { "a": { "format": "int64", "maxLength": 3 } } });
    let value = serde_json::json!({ "a": "abc" });
    assert_eq!(walked_with(None, &others, &value, DocumentKind::Arguments), []);
}
