//! What the walker says, and that it says it when it should.

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

use crate::schema::check::check;

/// A schema, arguments, and the issues as "path rule: message".
type Row = (Value, Value, &'static [&'static str]);

/// The issues as "path rule: message".
fn said(schema: &Value, arguments: &Value) -> Vec<String> {
    let issues = check(schema, arguments);
    issues.iter().map(|issue| format!("{} {}: {issue}", issue.path(), issue.rule())).collect()
}

/// Checks each row.
fn assert_says(rows: &[Row]) {
    for (schema, arguments, expected) in rows {
        assert_eq!(said(schema, arguments), *expected, "{arguments} by {schema}");
    }
}

/// Checks each row, whose schema is that of the argument `a` and whose value is that argument.
fn assert_says_of_a(rows: &[Row]) {
    for (schema, value, expected) in rows {
        let schema = serde_json::json!({ "properties": { "a": schema }, "required": ["a"] });
        let arguments = serde_json::json!({ "a": value });
        let said: Vec<String> =
            check(&schema, &arguments).iter().map(ToString::to_string).collect();
        assert_eq!(said, *expected, "{arguments} by {schema}");
    }
}
