//! Checks that a schema given for a tool matches the types that the tool decodes.

use serde_json::{Map, Value};

/// The reasons why no call can satisfy both a given schema and the generated one. `advertised` maps an alias to the
/// name of its argument. Only names and types at the root are compared.
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
    if lists_all(given) {
        let names: Vec<&str> = properties(given).map(&advertised).collect();
        let missing = required(own).filter(|name| !names.contains(name));
        problems.extend(missing.map(|name| format!(
            "its input schema has no property `{name}`, an argument that every call needs; add the property, or make the argument optional"
        )));
    }
    problems.extend(properties(given).filter_map(|name| {
        let (given, own) = (kind(given, name)?, kind(own, advertised(name))?);
        (family(given) != family(own)).then(|| format!(
            "its input schema says that `{name}` is of the type `{given}`, and the argument is of the type `{own}`; change one of the two"
        ))
    }));
    problems
}

/// Whether a call that follows the schema has no other properties than those that it lists.
fn lists_all(schema: &Map<String, Value>) -> bool {
    const MORE_PROPERTIES: [&str; 5] = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref"];
    let is_simple = !MORE_PROPERTIES.iter().any(|keyword| schema.contains_key(*keyword));
    is_closed(schema) || is_simple && properties(schema).next().is_some()
}

/// The type of a property, if it has one.
fn kind<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s str> {
    schema.get("properties")?.get(name)?.get("type")?.as_str()
}

/// Types without a common value have two families.
fn family(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
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
