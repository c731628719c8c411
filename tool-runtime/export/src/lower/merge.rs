//! Object schemas of `allOf`, `anyOf` and `oneOf` as one object schema.

use super::refs::resolve;
use serde_json::{Map, Value, json};

/// Adds the requirements of an object schema to another. Returns false if it is not a plain object
/// schema, or if one of its keywords cannot be joined.
pub(super) fn join(
    into: &mut Map<String, Value>,
    root: &Map<String, Value>,
    branch: &Value,
) -> bool {
    let Some(branch) = object_of(root, branch, 8) else { return false };
    for (keyword, value) in branch {
        match keyword.as_str() {
            "properties" => join_properties(into, value),
            "required" => join_required(into, value),
            "additionalProperties" if *value == Value::Bool(false) => {}
            "$defs" | "definitions" | "$schema" | "$id" | "$comment" | "title" => {}
            "description" => {
                into.entry(keyword.clone()).or_insert_with(|| value.clone());
            }
            "allOf" => {
                let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
                if !branches.iter().all(|branch| join(into, root, branch)) {
                    return false;
                }
            }
            _ => match into.get(keyword) {
                None => drop(into.insert(keyword.clone(), value.clone())),
                Some(known) if known == value => {}
                Some(_) => return false,
            },
        }
    }
    true
}

fn join_properties(into: &mut Map<String, Value>, added: &Value) {
    let Some(added) = added.as_object() else { return };
    let properties = into.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    for (name, schema) in added {
        match properties.get_mut(name) {
            None => drop(properties.insert(name.clone(), schema.clone())),
            Some(known) if known == schema => {}
            Some(known) => *known = json!({ "allOf": [known, schema] }),
        }
    }
}

fn join_required(into: &mut Map<String, Value>, added: &Value) {
    let required = into.entry("required").or_insert_with(|| json!([]));
    let (Some(required), Some(added)) = (required.as_array_mut(), added.as_array()) else { return };
    for name in added {
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
}

/// Adds the properties of alternatives: each may be there, and those that all require must be.
/// False if an alternative is not a plain object schema.
pub(super) fn join_alternatives(
    into: &mut Map<String, Value>,
    root: &Map<String, Value>,
    alternatives: &[Value],
) -> bool {
    let mut merged = Vec::new();
    for alternative in alternatives {
        let mut one = Map::new();
        if !join(&mut one, root, alternative) {
            return false;
        }
        merged.push(one);
    }
    let required = |one: &Map<String, Value>, name: &Value| {
        one.get("required").and_then(Value::as_array).is_some_and(|names| names.contains(name))
    };
    for one in &merged {
        for (name, schema) in one.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            offer(into, name, schema);
        }
    }
    if let Some(names) = merged.first().and_then(|one| one.get("required")?.as_array()) {
        let common = names.iter().filter(|name| merged.iter().all(|one| required(one, name)));
        join_required(into, &common.cloned().collect());
    }
    true
}

/// Accepts another schema for a property.
fn offer(into: &mut Map<String, Value>, name: &str, schema: &Value) {
    let properties = into.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    match properties.get_mut(name) {
        None => drop(properties.insert(name.to_owned(), schema.clone())),
        Some(known) if known == schema => {}
        Some(known) => {
            let mut either = match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(either) => std::mem::take(either),
                None => vec![known.take()],
            };
            if !either.contains(schema) {
                either.push(schema.clone());
            }
            *known = json!({ "anyOf": either });
        }
    }
}

/// An object schema, through references.
fn object_of<'a>(
    root: &'a Map<String, Value>,
    schema: &'a Value,
    depth: usize,
) -> Option<&'a Map<String, Value>> {
    let map = schema.as_object()?;
    match map.get("$ref").and_then(Value::as_str) {
        Some(reference) if map.len() == 1 && depth > 0 => {
            object_of(root, resolve(root, reference)?, depth - 1)
        }
        Some(_) => None,
        None => Some(map),
    }
}
