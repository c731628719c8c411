//! Arguments repeated as headers of a call, where a tool's schema has `x-mcp-header`.

use super::credentials::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{CallToolRequestParams, CustomResult, ServerResult};
use serde_json::{Map, Value};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;

const KEY: &str = "x-mcp-header";
/// Prefix of the headers' names.
const PREFIX: &str = "mcp-param-";

/// One argument and its header.
#[derive(Clone, Debug, PartialEq)]
struct Mapping {
    path: Vec<String>,
    header: HeaderName,
}

/// Lists that are read at the same time, at most.
const MAX_UNFINISHED: usize = 4;

/// Header mappings of a server's tools.
#[derive(Default)]
pub(super) struct ParamHeaders(Mutex<Known>);

/// Header mappings by tool; empty for invalid ones.
type Wanted = HashMap<String, Vec<Mapping>>;

#[derive(Default)]
struct Known {
    /// Tools of the last complete list.
    tools: Arc<Wanted>,
    /// Tools of incomplete lists, with the cursor of the next page.
    unfinished: VecDeque<(String, Wanted)>,
}

/// A page of a list.
struct Page<'a> {
    tools: Vec<(&'a str, &'a Map<String, Value>)>,
    next: Option<&'a str>,
}

impl<'a> Page<'a> {
    fn of(result: &'a ServerResult) -> Option<Self> {
        match result {
            ServerResult::ListToolsResult(list) => Some(Self {
                tools: list.tools.iter().map(|tool| (&*tool.name, &*tool.input_schema)).collect(),
                next: list.next_cursor.as_deref(),
            }),
            ServerResult::CustomResult(CustomResult(list)) => {
                let named = |tool: &'a Value| {
                    Some((tool.get("name")?.as_str()?, tool.get("inputSchema")?.as_object()?))
                };
                let tools = list.get("tools")?.as_array()?.iter().filter_map(named).collect();
                Some(Self { tools, next: list.get("nextCursor").and_then(Value::as_str) })
            }
            _ => None,
        }
    }
}

impl ParamHeaders {
    /// Reads the mappings from a page of the list of tools, given the cursor of the request. Returns the
    /// tools that cannot be called, with reasons. Of two tools with one name the first counts.
    pub(super) fn learn(
        &self,
        cursor: Option<&str>,
        result: &ServerResult,
    ) -> Vec<(String, String)> {
        let Some(page) = Page::of(result) else { return Vec::new() };
        let mut known = lock(&self.0);
        let (mut wanted, mut odd) = (known.before(cursor), Vec::new());
        for (name, schema) in page.tools {
            let Entry::Vacant(place) = wanted.entry(name.to_owned()) else { continue };
            let mappings = mappings(schema).unwrap_or_else(|problem| {
                odd.push((name.to_owned(), problem));
                Vec::new()
            });
            place.insert(mappings);
        }
        match page.next {
            Some(next) => known.unfinished.push_back((next.to_owned(), wanted)),
            None => known.tools = Arc::new(wanted),
        }
        let excess = known.unfinished.len().saturating_sub(MAX_UNFINISHED);
        known.unfinished.drain(..excess);
        odd
    }

    /// Adds the headers of a call.
    pub(super) fn add(&self, call: &CallToolRequestParams, headers: &mut HeaderMap) {
        // rmcp's own, which come of all lists that it ever saw.
        headers.retain(|name, _| !name.as_str().starts_with(PREFIX));
        let tools = Arc::clone(&lock(&self.0).tools);
        let (Some(mappings), Some(arguments)) = (tools.get(&*call.name), &call.arguments) else {
            return;
        };
        for Mapping { path, header } in mappings {
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

impl Known {
    /// The mappings of the pages before.
    fn before(&mut self, cursor: Option<&str>) -> Wanted {
        let Some(cursor) = cursor else { return Wanted::new() };
        let place = self.unfinished.iter().position(|(next, _)| next == cursor);
        let found = place.and_then(|place| self.unfinished.remove(place));
        // Whoever reads the same list at the same time has taken it.
        found.map_or_else(|| Wanted::clone(&self.tools), |(_, wanted)| wanted)
    }
}

/// The header mappings of a schema.
///
/// # Errors
/// It wants what cannot be.
fn mappings(schema: &Map<String, Value>) -> Result<Vec<Mapping>, String> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let marks = properties(schema, &mut Vec::new(), &mut all)?;
    if marks < count(&Value::Object(schema.clone())) {
        return Err(format!("`{KEY}` stands where it names no argument"));
    }
    match all.iter().find(|mappings| !seen.insert(&mappings.header)) {
        Some(twice) => Err(format!("two arguments have the `{KEY}` of `{}`", twice.header)),
        None => Ok(all),
    }
}

/// Collects what the properties of a schema want; gives back how many marks stood there.
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

    fn list(schemas: &[(&str, Value)], next: Option<&str>) -> ServerResult {
        let tool = |(name, schema)| json!({ "name": name, "inputSchema": schema });
        let tools: Vec<Value> = schemas.iter().cloned().map(tool).collect();
        ServerResult::CustomResult(CustomResult(json!({ "tools": tools, "nextCursor": next })))
    }

    fn sent(schema: Value, arguments: Value) -> Vec<(String, String)> {
        let param_headers = ParamHeaders::default();
        assert!(param_headers.learn(None, &list(&[("t", schema)], None)).is_empty());
        sent_by(&param_headers, arguments)
    }

    fn sent_by(param_headers: &ParamHeaders, arguments: Value) -> Vec<(String, String)> {
        let mut call = CallToolRequestParams::new("t");
        call.arguments = arguments.as_object().cloned();
        let mut headers = HeaderMap::new();
        param_headers.add(&call, &mut headers);
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
                "stands where it names no argument",
            ),
        ] {
            let schema = json!({ "type": "object", "properties": properties });
            let odd = ParamHeaders::default().learn(None, &list(&[("t", schema)], None));
            assert!(odd[0].0 == "t" && odd[0].1.contains(words), "{odd:?}");
        }
    }

    fn marked(header: &str) -> Value {
        json!({ "properties": { "a": { "type": "string", "x-mcp-header": header } } })
    }

    #[test]
    fn a_list_counts_when_it_is_read_as_a_whole() {
        let (param_headers, arguments) = (ParamHeaders::default(), json!({ "a": "v" }));
        let is_sent = |header: &str| {
            let header = format!("mcp-param-{header}");
            sent_by(&param_headers, arguments.clone()).iter().any(|(name, _)| *name == header)
        };
        param_headers.learn(None, &list(&[("t", marked("One"))], None));
        assert!(is_sent("one"));
        // Of two the first counts, on whatever page it stands.
        param_headers.learn(None, &list(&[("t", marked("Two")), ("t", marked("Three"))], Some("")));
        assert!(is_sent("one"));
        param_headers.learn(Some(""), &list(&[("t", marked("Four"))], None));
        assert!(is_sent("two"));
        param_headers.learn(None, &list(&[("other", marked("Five"))], None));
        assert_eq!(sent_by(&param_headers, arguments.clone()), []);
    }

    #[test]
    fn nothing_is_kept_of_lists_that_are_over() {
        let param_headers = ParamHeaders::default();
        for number in 0..100 {
            let name = format!("t{number}");
            param_headers.learn(None, &list(&[(&name, marked("A"))], Some(&name)));
            param_headers.learn(None, &list(&[(&name, marked("A"))], None));
        }
        let known = param_headers.0.lock().unwrap();
        assert_eq!((known.tools.len(), known.unfinished.len()), (1, MAX_UNFINISHED));
    }
}
