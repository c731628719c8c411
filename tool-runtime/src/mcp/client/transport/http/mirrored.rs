//! Arguments that are repeated in headers of a call, where a tool's schema asks for it by
//! `x-mcp-header`.

use super::headers::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, CustomResult, JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

const KEY: &str = "x-mcp-header";

/// One argument and its header.
#[derive(Debug, PartialEq)]
struct Mirrored {
    path: Vec<String>,
    header: HeaderName,
}

/// What the tools of a server want repeated.
#[derive(Default)]
pub(super) struct Mirrors(Mutex<HashMap<String, Vec<Mirrored>>>);

impl Mirrors {
    /// Learns it from a list of tools; gives back those that cannot be called, and why.
    pub(super) fn learn(&self, message: &ServerJsonRpcMessage) -> Vec<(String, String)> {
        let JsonRpcMessage::Response(response) = message else { return Vec::new() };
        match &response.result {
            ServerResult::ListToolsResult(list) => {
                let tools = list.tools.iter();
                self.learn_all(tools.map(|tool| (&*tool.name, &*tool.input_schema)))
            }
            ServerResult::CustomResult(CustomResult(list)) => {
                let tools = list.get("tools").and_then(Value::as_array).into_iter().flatten();
                self.learn_all(tools.filter_map(|tool| {
                    Some((tool.get("name")?.as_str()?, tool.get("inputSchema")?.as_object()?))
                }))
            }
            _ => Vec::new(),
        }
    }

    fn learn_all<'a>(
        &self,
        tools: impl Iterator<Item = (&'a str, &'a Map<String, Value>)>,
    ) -> Vec<(String, String)> {
        let mut mirrors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut odd = Vec::new();
        for (name, schema) in tools {
            match mirrored(schema) {
                Ok(none) if none.is_empty() => drop(mirrors.remove(name)),
                Ok(mirrored) => drop(mirrors.insert(name.to_owned(), mirrored)),
                Err(problem) => odd.push((name.to_owned(), problem)),
            }
        }
        odd
    }

    /// Adds the headers of a call.
    pub(super) fn add(&self, call: &CallToolRequestParams, headers: &mut HeaderMap) {
        let mirrors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(mirrored), Some(arguments)) = (mirrors.get(&*call.name), &call.arguments) else {
            return;
        };
        for Mirrored { path, header } in mirrored {
            let mut steps = path.iter();
            let first = steps.next().and_then(|key| arguments.get(key));
            let value = steps.fold(first, |value, key| value?.get(key));
            let text = match value {
                Some(Value::String(text)) => coded(text),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => number.to_string(),
                _ => continue,
            };
            if let Ok(value) = HeaderValue::from_str(&text) {
                headers.insert(header.clone(), value);
            }
        }
    }
}

/// What a schema wants repeated.
///
/// # Errors
/// It wants what cannot be.
fn mirrored(schema: &Map<String, Value>) -> Result<Vec<Mirrored>, String> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let marks = properties(schema, &mut Vec::new(), &mut all)?;
    if marks < count(&Value::Object(schema.clone())) {
        return Err(format!("`{KEY}` stands where it names no argument"));
    }
    match all.iter().find(|mirrored| !seen.insert(&mirrored.header)) {
        Some(twice) => Err(format!("two arguments have the `{KEY}` of `{}`", twice.header)),
        None => Ok(all),
    }
}

/// Collects what the properties of a schema want; gives back how many marks stood there.
fn properties(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    all: &mut Vec<Mirrored>,
) -> Result<usize, String> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(0) };
    let mut marks = 0;
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        path.push(name.clone());
        if let Some(mark) = property.get(KEY) {
            all.push(Mirrored { path: path.clone(), header: header(mark, property, path)? });
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
        return Err(format!("`{path}` has an `{KEY}` and is no string, integer or boolean"));
    }
    let name = mark.as_str().filter(|name| !name.is_empty());
    let name = name.and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok());
    name.ok_or_else(|| format!("the `{KEY}` of `{path}` is no name of a header"))
}

/// How many marks there are anywhere in a schema; data in it have none.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(object) => {
            let own = usize::from(object.contains_key(KEY));
            own + object.iter().map(|(key, value)| count_below(key, value)).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

fn count_below(key: &str, value: &Value) -> usize {
    match (key, value) {
        ("default" | "const" | "enum" | "examples" | KEY, _) => 0,
        // Keys are names there.
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(schemas),
        ) => schemas.values().map(count).sum(),
        (_, value) => count(value),
    }
}

/// A text as a header carries it.
fn coded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let is_trimmed = text.trim_matches([' ', '\t']) == text;
    let looks_coded = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_plain && is_trimmed && !looks_coded {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(schema: Value) -> ServerJsonRpcMessage {
        let tools = json!([{ "name": "t", "inputSchema": schema }]);
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } }))
            .unwrap()
    }

    fn sent(schema: Value, arguments: Value) -> Vec<(String, String)> {
        let mirrors = Mirrors::default();
        assert!(mirrors.learn(&list(schema)).is_empty());
        let mut call = CallToolRequestParams::new("t");
        call.arguments = arguments.as_object().cloned();
        let mut headers = HeaderMap::new();
        mirrors.add(&call, &mut headers);
        let shown = |(name, value): (HeaderName, HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        let mut sent: Vec<_> = headers.into_iter().map(shown).collect();
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
        assert_eq!(sent(schema.clone(), arguments), expected);
        assert_eq!(sent(schema, json!({})), []);
    }

    #[test]
    fn what_cannot_be_repeated_is_a_problem() {
        let marked = |mark: Value, kind: &str| json!({ "type": kind, "x-mcp-header": mark });
        for (properties, words) in [
            (json!({ "a": marked(json!("A b"), "string") }), "of `a` is no name of a header"),
            (json!({ "a": marked(json!(""), "string") }), "of `a` is no name of a header"),
            (json!({ "a": marked(json!(1), "string") }), "of `a` is no name of a header"),
            (json!({ "a": marked(json!("A"), "number") }), "`a` has an `x-mcp-header` and is no"),
            (
                json!({ "a": marked(json!("A"), "string"), "b": marked(json!("a"), "string") }),
                "two arguments",
            ),
            (
                json!({ "a": { "type": "array", "items": marked(json!("A"), "string") } }),
                "stands where it names no argument",
            ),
        ] {
            let schema = json!({ "type": "object", "properties": properties });
            let odd = Mirrors::default().learn(&list(schema));
            assert!(odd[0].0 == "t" && odd[0].1.contains(words), "{odd:?}");
        }
    }
}
