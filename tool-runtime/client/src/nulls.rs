//! Nulls that models send for optional arguments.

use serde_json::{Map, Value};

/// Limit on followed references.
const MAX_STEPS: usize = 16;

/// Removes the nulls of optional arguments whose schemas do not allow null. Any other null has a
/// meaning, or is a mistake to be reported.
pub(super) fn without_needless_nulls(
    schema: &Map<String, Value>,
    mut arguments: Map<String, Value>,
) -> Map<String, Value> {
    if arguments.values().any(Value::is_null) {
        arguments.retain(|name, value| !(value.is_null() && is_needless(schema, name)));
    }
    arguments
}

fn is_needless(schema: &Map<String, Value>, name: &str) -> bool {
    let Some(property) = schema.get("properties").and_then(|all| all.get(name)) else {
        return false;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
    !is_required && !allows_null(schema, property, MAX_STEPS)
}

/// Whether a schema may allow null. True if in doubt.
fn allows_null(root: &Map<String, Value>, schema: &Value, steps: usize) -> bool {
    let (Value::Object(members), Some(steps)) = (schema, steps.checked_sub(1)) else {
        return schema != &Value::Bool(false);
    };
    let allows = |schema: &Value| allows_null(root, schema, steps);
    let each = |key: &str| members.get(key).and_then(Value::as_array);
    let has_null = |values: &Vec<Value>| values.iter().any(Value::is_null);
    let is_type = match members.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => true,
    };
    let is_nullable = members.get("nullable") == Some(&Value::Bool(true));
    (is_type || is_nullable)
        && each("enum").is_none_or(has_null)
        && members.get("const").is_none_or(Value::is_null)
        && each("allOf").is_none_or(|all| all.iter().all(allows))
        && each("anyOf").is_none_or(|any| any.iter().any(allows))
        && each("oneOf").is_none_or(|one| one.iter().any(allows))
        && members.get("$ref").and_then(|to| referenced(root, to)).is_none_or(allows)
}

/// The target of a reference within the schema.
fn referenced<'a>(root: &'a Map<String, Value>, to: &Value) -> Option<&'a Value> {
    let mut path = to.as_str()?.strip_prefix("#/")?.split('/');
    let first = root.get(path.next()?)?;
    path.try_fold(first, |schema, key| schema.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn remaining(schema: Value, arguments: Value) -> Value {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else {
            panic!("objects");
        };
        without_needless_nulls(&schema, arguments).into()
    }

    #[test]
    fn each_null_is_checked_separately() {
        let schema = json!({
            "type": "object",
            "properties": {
                "plain": { "type": "string" },
                "nullable": { "type": ["string", "null"] },
                "required": { "type": "string" },
                "any": {},
                "choice": { "enum": ["a", "b"] },
                "union": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "none": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/number" }] },
                "old": { "type": "string", "nullable": true },
                "circle": { "$ref": "#/$defs/circle" },
            },
            "required": ["required"],
            "$defs": { "number": { "type": "integer" }, "circle": { "$ref": "#/$defs/circle" } },
        });
        let names = [
            "plain", "nullable", "required", "any", "choice", "union", "none", "old", "circle",
            "unknown",
        ];
        let arguments: Map<_, _> =
            names.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
        let remaining_names: Vec<String> = match remaining(schema, arguments.into()) {
            Value::Object(remaining_names) => remaining_names.keys().cloned().collect(),
            other => panic!("{other}"),
        };
        assert_eq!(
            remaining_names,
            ["nullable", "required", "any", "union", "old", "circle", "unknown"]
        );
    }
}
