//! What the command line reads from a schema.

use serde_json::Value;

/// Limit on following references; definitions may refer to themselves.
const MAX_DEPTH: u8 = 8;

/// The schema that says which values there are: the target of a reference, and of an optional value the other choice
/// than null.
pub(crate) fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let target = schema["$ref"].as_str().and_then(|to| root.pointer(to.strip_prefix('#')?));
        let next = target.or_else(|| only_choice(schema));
        let Some(next) = next else { break };
        schema = next;
    }
    schema
}

/// The only choice of `anyOf`, `oneOf` or `allOf` that is not null.
fn only_choice(schema: &Value) -> Option<&Value> {
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema[key].as_array())?;
    let mut values = choices.iter().filter(|choice| choice["type"] != "null");
    values.next().filter(|_| values.next().is_none())
}

/// The type of a resolved schema, without null.
pub(super) fn type_name(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.next().filter(|_| names.next().is_none())
        }
        _ => None,
    }
}

/// The values of an enumeration of strings, in any of the forms that schemas have for one.
pub(super) fn choices(schema: &Value) -> Vec<&str> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect();
    }
    if let Some(value) = schema["const"].as_str() {
        return vec![value];
    }
    let list = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
    let lists: Vec<Vec<&str>> = list.into_iter().flatten().map(choices).collect();
    match lists.iter().any(Vec::is_empty) {
        true => Vec::new(),
        false => lists.into_iter().flatten().collect(),
    }
}

/// The limits of a value, for people: `1 to 100`, `at most 20 characters`.
pub(super) fn limits(schema: &Value) -> Vec<String> {
    let range = |low: &str, high: &str, unit: &str| {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match (&schema[low], &schema[high]) {
            (Value::Number(low), Value::Number(high)) => Some(format!("{low} to {high}{unit}")),
            (Value::Number(low), _) => Some(format!("at least {low}{unit}")),
            (_, Value::Number(high)) => Some(format!("at most {high}{unit}")),
            _ => None,
        }
    };
    let above = schema["exclusiveMinimum"].as_number().map(|low| format!("above {low}"));
    let below = schema["exclusiveMaximum"].as_number().map(|high| format!("below {high}"));
    let pattern = schema["pattern"].as_str().map(|pattern| format!("pattern: {pattern}"));
    let limits = [
        range("minimum", "maximum", ""),
        above,
        below,
        range("minLength", "maxLength", "characters"),
        range("minItems", "maxItems", "values"),
        pattern,
    ];
    limits.into_iter().flatten().collect()
}

/// Whether a default is more than the absence of a value.
pub(super) fn says_something(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// The schema of a field of a value, by its name.
pub(super) fn field<'s>(schema: &'s Value, name: &str, root: &'s Value) -> &'s Value {
    let schema = resolved(schema, root);
    match schema["properties"].get(name) {
        Some(field) => field,
        None => &schema["additionalProperties"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn optional_values_and_references_are_resolved() {
        let root = json!({ "$defs": { "Unit": { "enum": ["c", "f"] }, "Loop": { "$ref": "#/$defs/Loop" } } });
        let optional = json!({ "anyOf": [{ "$ref": "#/$defs/Unit" }, { "type": "null" }] });
        assert_eq!(choices(resolved(&optional, &root)), ["c", "f"]);
        assert_eq!(type_name(&json!({ "type": ["null", "integer"] })), Some("integer"));
        assert_eq!(type_name(&json!({ "type": ["string", "integer"] })), None);
        resolved(&json!({ "$ref": "#/$defs/Loop" }), &root);
    }

    #[test]
    fn limits_are_in_words() {
        assert_eq!(limits(&json!({ "minimum": 1, "maximum": 9 })), ["1 to 9"]);
        assert_eq!(
            limits(&json!({ "maxLength": 3, "pattern": "^a" })),
            ["at most 3 characters", "pattern: ^a"]
        );
    }

    #[test]
    fn variants_with_descriptions_are_choices() {
        let schema =
            json!({ "oneOf": [{ "const": "a", "description": "A." }, { "enum": ["b", "c"] }] });
        assert_eq!(choices(&schema), ["a", "b", "c"]);
        assert!(choices(&json!({ "oneOf": [{ "const": "a" }, { "type": "object" }] })).is_empty());
    }
}
