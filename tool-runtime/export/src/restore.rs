//! Arguments of an exported schema to those of the tool's own schema.

use crate::lower::{Dialect, resolve};
use serde_json::{Map, Value};
use std::sync::Arc;
use tool_runtime_core::tool::export::RestoreArguments;

/// Deeper arguments are not restored.
const MAX_DEPTH: usize = 64;

/// Reverses the changes of [`lower`](crate::lower::lower) to names of properties and to absent
/// values. `None` if it did neither.
pub(crate) fn restorer(
    schema: &Map<String, Value>,
    dialect: Dialect,
) -> Option<Arc<RestoreArguments>> {
    let schema = Value::Object(schema.clone());
    needs_restoring(&schema, dialect).then(|| -> Arc<RestoreArguments> {
        Arc::new(move |arguments| {
            let root = schema.as_object().expect("an object");
            Restorer { root, dialect }.restore(arguments, &[&schema], 0);
        })
    })
}

fn needs_restoring(schema: &Value, dialect: Dialect) -> bool {
    match schema {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            let is_changed = |name: &String| {
                dialect == Dialect::OpenAi && !is_required(map, name)
                    || dialect.property(name) != name.as_str()
            };
            properties.is_some_and(|properties| properties.keys().any(is_changed))
                || map.values().any(|value| needs_restoring(value, dialect))
        }
        Value::Array(items) => items.iter().any(|item| needs_restoring(item, dialect)),
        _ => false,
    }
}

struct Restorer<'a> {
    root: &'a Map<String, Value>,
    dialect: Dialect,
}

impl<'a> Restorer<'a> {
    /// Restores a value that follows one of these schemas.
    fn restore(&self, value: &mut Value, schemas: &[&'a Value], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut expanded = Vec::new();
        for schema in schemas {
            self.expand(schema, &mut expanded, 0);
        }
        match value {
            Value::Object(members) => self.restore_object(members, &expanded, depth),
            Value::Array(items) => {
                let schemas: Vec<&Value> =
                    expanded.iter().filter_map(|map| map.get("items")).collect();
                for item in items {
                    self.restore(item, &schemas, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn restore_object(
        &self,
        members: &mut Map<String, Value>,
        schemas: &[&'a Map<String, Value>],
        depth: usize,
    ) {
        for (wire, mut value) in std::mem::take(members) {
            let mut matching = Vec::new();
            for schema in schemas {
                if let Some((name, property)) = self.property(schema, &wire) {
                    matching.push((*schema, name, property));
                }
            }
            let name = matching.first().map_or(wire, |(_, name, _)| (*name).to_owned());
            let is_absent = |(schema, name, property): &(&Map<String, Value>, &str, &Value)| {
                !is_required(schema, name) && !accepts_null(self.root, property, 8)
            };
            let strict = self.dialect == Dialect::OpenAi && !matching.is_empty();
            if strict && value.is_null() && matching.iter().all(is_absent) {
                continue;
            }
            let mut properties: Vec<&Value> =
                matching.into_iter().map(|(_, _, schema)| schema).collect();
            if properties.is_empty() {
                properties.extend(schemas.iter().filter_map(|s| s.get("additionalProperties")));
            }
            self.restore(&mut value, &properties, depth + 1);
            members.insert(name, value);
        }
    }

    /// The property that has this name in the export.
    fn property(&self, schema: &'a Map<String, Value>, wire: &str) -> Option<(&'a str, &'a Value)> {
        let properties = schema.get("properties")?.as_object()?;
        let mut properties = properties.iter();
        let (name, schema) = properties.find(|(name, _)| self.dialect.property(name) == wire)?;
        Some((name, schema))
    }

    /// The schemas that apply to a value: itself, its reference, its branches.
    fn expand(&self, schema: &'a Value, into: &mut Vec<&'a Map<String, Value>>, depth: usize) {
        let Some(map) = schema.as_object().filter(|_| depth < 16) else { return };
        into.push(map);
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            if let Some(target) = resolve(self.root, target) {
                self.expand(target, into, depth + 1);
            }
            if map.get("$ref").is_some_and(|target| target == "#") {
                into.push(self.root);
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in map.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.expand(branch, into, depth + 1);
            }
        }
    }
}

pub(crate) fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Whether a schema accepts `null`.
pub(crate) fn accepts_null(root: &Map<String, Value>, schema: &Value, depth: usize) -> bool {
    let Some(map) = schema.as_object() else { return *schema == Value::Bool(true) };
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        let target = resolve(root, target).filter(|_| depth > 0);
        return target.is_some_and(|target| accepts_null(root, target, depth - 1));
    }
    let is_null = |value: &Value| value.is_null();
    let by_type = match map.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => true,
    };
    let by_enum = map.get("enum").and_then(Value::as_array).is_none_or(|v| v.iter().any(is_null));
    let branches = |keyword| map.get(keyword).and_then(Value::as_array);
    let accepts = |branch: &Value| depth > 0 && accepts_null(root, branch, depth - 1);
    let by_any = |keyword| branches(keyword).is_none_or(|all| all.iter().any(accepts));
    by_type
        && by_enum
        && map.get("const").is_none_or(is_null)
        && by_any("anyOf")
        && by_any("oneOf")
        && branches("allOf").is_none_or(|all| all.iter().all(accepts))
}
