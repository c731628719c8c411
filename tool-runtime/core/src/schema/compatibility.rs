//! Checks that a schema given for a tool matches the types that the tool decodes.

use serde_json::{Map, Value};

/// The reasons why no call can satisfy both a given schema and the generated one. `advertised` maps an alias to the
/// name of its argument. Only names at the root are compared.
pub(crate) fn incompatibilities<'a>(
    given: &'a Map<String, Value>,
    own: &Map<String, Value>,
    advertised: impl Fn(&'a str) -> &'a str,
) -> Vec<String> {
    let mut problems = Vec::new();
    if is_closed(own) {
        let unknown = required(given).filter(|name| !has(own, |known| known == advertised(name)));
        problems.extend(unknown.map(|name| format!(
            "its input schema requires `{name}`, which is not one of its arguments; remove `{name}` from `required`, or add the argument"
        )));
    }
    if is_closed(given) {
        let names: Vec<&str> = properties(given).map(&advertised).collect();
        let missing = required(own).filter(|name| !names.contains(name));
        problems.extend(missing.map(|name| format!(
            "its input schema has no property `{name}`, an argument that every call needs; add the property, or make the argument optional"
        )));
    }
    problems
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
}

fn has(schema: &Map<String, Value>, is_it: impl Fn(&str) -> bool) -> bool {
    properties(schema).any(is_it)
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}
