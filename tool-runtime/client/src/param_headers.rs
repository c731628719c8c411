//! Arguments repeated as headers of a call, where a tool's schema has `x-mcp-header`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;
use tool_runtime_core::tool::ToolDefinition;

const KEY: &str = "x-mcp-header";
/// Prefix of the headers' names.
pub(super) const PREFIX: &str = "mcp-param-";

/// The definition of a called tool, as an extension of the request.
#[derive(Clone)]
pub(super) struct CalledTool(pub(super) Arc<ToolDefinition>);

/// An argument and its header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mapping {
    path: Vec<String>,
    header: HeaderName,
}

/// The headers for the arguments of a call. An invalid schema has none.
pub(super) fn headers(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Vec<(HeaderName, HeaderValue)> {
    let header = |Mapping { path, header }: Mapping| {
        let mut steps = path.iter();
        let first = steps.next().and_then(|key| arguments.get(key));
        let text = match steps.try_fold(first?, |value, key| value.get(key))? {
            Value::String(text) => encoded(text),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((header, HeaderValue::from_str(&text).ok()?))
    };
    mappings(schema).unwrap_or_default().into_iter().filter_map(header).collect()
}

/// The header mappings of a schema.
///
/// # Errors
/// A mark is invalid or misplaced.
pub(super) fn mappings(schema: &Map<String, Value>) -> Result<Vec<Mapping>, String> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let marks = properties(schema, &mut Vec::new(), &mut all)?;
    if marks < count(&Value::Object(schema.clone())) {
        return Err(format!("`{KEY}` is not on an argument"));
    }
    match all.iter().find(|mappings| !seen.insert(&mappings.header)) {
        Some(twice) => Err(format!("two arguments have the `{KEY}` of `{}`", twice.header)),
        None => Ok(all),
    }
}

/// Collects the mappings of properties, and returns the number of marks.
fn properties(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    all: &mut Vec<Mapping>,
) -> Result<usize, String> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(0) };
    let mut marks = 0;
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        path.push(name.clone());
        if let Some(mark) = property.get(KEY) {
            all.push(Mapping { path: path.clone(), header: header(mark, property, path)? });
            marks += 1;
        }
        marks += self::properties(property, path, all)?;
        path.pop();
    }
    Ok(marks)
}

fn header(
    mark: &Value,
    property: &Map<String, Value>,
    path: &[String],
) -> Result<HeaderName, String> {
    let path = path.join(".");
    let kind = property.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(format!("`{path}` has an `{KEY}` and is not a string, integer or boolean"));
    }
    let name = mark.as_str().filter(|name| !name.is_empty());
    let name = name.and_then(|name| HeaderName::try_from(format!("{PREFIX}{name}")).ok());
    name.ok_or_else(|| format!("the `{KEY}` of `{path}` is not a name of a header"))
}

/// Number of marks anywhere in a schema, except in data.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(object) => {
            let here = usize::from(object.contains_key(KEY));
            here + object.iter().map(|(key, value)| count_below(key, value)).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

fn count_below(key: &str, value: &Value) -> usize {
    match (key, value) {
        ("default" | "const" | "enum" | "examples" | KEY, _) => 0,
        // Here keys are names.
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(schemas),
        ) => schemas.values().map(count).sum(),
        (_, value) => count(value),
    }
}

/// A text as a header value.
fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let is_trimmed = text.trim_matches([' ', '\t']) == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_plain && is_trimmed && !looks_encoded {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        let (schema, arguments) = (schema.as_object().unwrap(), arguments.as_object().unwrap());
        let strings = |(name, value): (HeaderName, HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        let mut sent: Vec<_> = headers(schema, arguments).into_iter().map(strings).collect();
        sent.sort();
        sent
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": {
                "count": { "type": "integer", "x-mcp-header": "Count" },
                "flag": { "type": "boolean", "x-mcp-header": "Flag" },
            } },
            "x-mcp-header": { "type": "string" },
            "other": { "type": "string", "default": { "x-mcp-header": "data" } },
        } });
        let arguments =
            json!({ "region": " köln", "deep": { "count": 3, "flag": null }, "other": "o" });
        let expected = [
            ("mcp-param-count".to_owned(), "3".to_owned()),
            ("mcp-param-region".to_owned(), "=?base64?IGvDtmxu?=".to_owned()),
        ];
        assert_eq!(sent(&schema, &arguments), expected);
        assert_eq!(sent(&schema, &json!({})), []);
    }

    #[test]
    fn a_value_that_cannot_be_repeated_is_a_problem() {
        let marked = |mark: Value, kind: &str| json!({ "type": kind, "x-mcp-header": mark });
        for (properties, words) in [
            (json!({ "a": marked(json!("A b"), "string") }), "of `a` is not a name of a header"),
            (json!({ "a": marked(json!(""), "string") }), "of `a` is not a name of a header"),
            (json!({ "a": marked(json!(1), "string") }), "of `a` is not a name of a header"),
            (json!({ "a": marked(json!("A"), "number") }), "`a` has an `x-mcp-header` and is no"),
            (
                json!({ "a": marked(json!("A"), "string"), "b": marked(json!("a"), "string") }),
                "two arguments",
            ),
            (
                json!({ "a": { "type": "array", "items": marked(json!("A"), "string") } }),
                "is not on an argument",
            ),
        ] {
            let schema = json!({ "type": "object", "properties": properties });
            let problem = mappings(schema.as_object().unwrap()).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
