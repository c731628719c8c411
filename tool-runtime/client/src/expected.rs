//! Compares the tools of a server with the definitions from which `external_tools!` generated types.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{ExpectedTool, expected_tools, translate_schema};
use tool_runtime_core::tool::{Tool, ToolDefinition};

/// Keywords that assert nothing.
const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "$schema", "$comment"];
/// Keywords whose members are names.
const NAMED: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Notices about tools of a server that differ from the expected definitions. `ids` are the ids of its tools before the
/// transforms of the pool.
pub(super) fn differences(pool: &ToolPool, prefix: &str, ids: &[&str]) -> Vec<String> {
    let mut expected = expected_tools().peekable();
    if expected.peek().is_none() {
        return Vec::new();
    }
    let snapshot = pool.snapshot();
    let notice = |expected: &ExpectedTool| {
        let (name, file) = (expected.name(), expected.file());
        let difference = match snapshot.tools().iter().find(|tool| tool.name() == name) {
            Some(tool) if ids.contains(&original(tool)) => difference(expected, tool.definition())?,
            None if is_within(prefix, name) => "the pool has no such tool".to_owned(),
            _ => return None,
        };
        Some(format!("`{name}` is not as in `{file}`: {difference}; write the file again"))
    };
    expected.filter_map(notice).collect()
}

/// The id before all transforms.
fn original(tool: &Tool) -> &str {
    let originals = std::iter::successors(tool.made_from(), |tool| tool.made_from());
    originals.last().unwrap_or(tool).name()
}

fn is_within(prefix: &str, name: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && rest.starts_with('.'))
}

/// The difference between the schemas of a tool and those that are expected.
fn difference(expected: &ExpectedTool, definition: &ToolDefinition) -> Option<String> {
    let mut pinned: Value = serde_json::from_str(expected.schemas()).unwrap_or_default();
    let mut found = Vec::new();
    for key in ["inputSchema", "outputSchema"] {
        // The file may hold what the server wrote.
        if let Some(Value::Object(schema)) = pinned.get_mut(key) {
            translate_schema(schema);
        }
    }
    let (old, new) = (bare(&pinned["inputSchema"]), bare(&definition.input_schema.clone().into()));
    if old != new {
        found.extend(argument_differences(&old, &new));
        if found.is_empty() {
            found.push("its input schema is another".to_owned());
        }
    }
    let output = definition.output_schema.clone().map_or(Value::Null, Value::Object);
    if bare(&pinned["outputSchema"]) != bare(&output) {
        found.push("its output schema is another".to_owned());
    }
    (!found.is_empty()).then(|| found.join(", "))
}

fn argument_differences(old: &Value, new: &Value) -> Vec<String> {
    let names = |schema: &Value| -> BTreeSet<String> {
        schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    let requires = |schema: &Value, name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required == name))
    };
    let change = |name: &String| {
        let properties = (old["properties"].get(name), new["properties"].get(name));
        let change = match (properties, requires(old, name), requires(new, name)) {
            ((None, _), _, true) => "is new and required",
            ((None, _), ..) => "is new",
            ((_, None), ..) => "is gone",
            ((old, new), ..) if old != new => "has another schema",
            (_, false, true) => "is required now",
            (_, true, false) => "is optional now",
            _ => return None,
        };
        Some(format!("argument `{name}` {change}"))
    };
    names(old).union(&names(new)).filter_map(change).collect()
}

/// A schema without annotations, its lists of names sorted.
fn bare(schema: &Value) -> Value {
    let member = |(key, value): (&String, &Value)| match value {
        Value::Object(named) if NAMED.contains(&key.as_str()) => {
            let named: Map<_, _> =
                named.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect();
            (key.clone(), named.into())
        }
        Value::Array(names) if key == "required" => {
            let mut names = names.clone();
            names.sort_by_key(Value::to_string);
            (key.clone(), names.into())
        }
        // Values of instances, not schemas.
        _ if matches!(key.as_str(), "enum" | "const") => (key.clone(), value.clone()),
        _ => (key.clone(), bare(value)),
    };
    match schema {
        Value::Object(members) => {
            let asserts = |(key, _): &(&String, &Value)| !ANNOTATIONS.contains(&key.as_str());
            members.iter().filter(asserts).map(member).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}
