//! The root of a tool's schema: a plain object schema, for every API.

use super::dialect::Dialect;
use super::keywords::Guidance;
use super::merge::{join, join_alternatives};
use serde_json::{Map, Value, json};
use tool_runtime_core::tool::export::{ChangeKind, SchemaChange};

/// Keywords that no API takes at the root.
const REJECTED: [&str; 6] = ["not", "if", "then", "else", "enum", "const"];

/// The schema with only `properties` in its root. Targets of references are not moved.
///
/// # Errors
/// The root is not an object schema.
pub(super) fn flattened(
    schema: &Map<String, Value>,
    dialect: Dialect,
    changes: &mut Vec<SchemaChange>,
) -> Result<Map<String, Value>, String> {
    let mut flat = schema.clone();
    let mut guidance = Guidance::default();
    let mut changed = |keyword: &str, kind| changes.push(SchemaChange::new("", keyword, kind));
    if let Some(target) = flat.remove("$ref") {
        if !join(&mut flat, schema, &json!({ "$ref": target })) {
            return Err(format!("its root refers to {target}, which is not an object schema"));
        }
        changed("$ref", ChangeKind::Rewritten);
    }
    if let Some(branches) = flat.remove("allOf") {
        let is_joined = join(&mut flat, schema, &json!({ "allOf": branches }));
        let is_told = is_joined || guidance.add("allOf", &branches);
        changed("allOf", kind(is_joined, is_told));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = flat.remove(keyword) {
            let is_joined = join_alternatives(&mut flat, schema, &alternatives);
            let is_told = guidance.add(keyword, &Value::Array(alternatives)) || is_joined;
            changed(keyword, kind(is_joined, is_told));
        }
    }
    for keyword in REJECTED {
        if let Some(value) = flat.remove(keyword) {
            let is_told = guidance.add(keyword, &value);
            changed(keyword, kind(false, is_told));
        }
    }
    guidance.append_to(&mut flat);
    match flat.get("type") {
        None => drop(flat.insert("type".to_owned(), json!("object"))),
        Some(kind) if *kind == json!("object") => {}
        // Arguments are an object.
        Some(Value::Array(kinds)) if kinds.contains(&json!("object")) => {
            flat.insert("type".to_owned(), json!("object"));
            changes.push(SchemaChange::new("", "type", ChangeKind::Rewritten));
        }
        Some(_) => return Err("its root is not an object schema".to_owned()),
    }
    flat.entry("properties").or_insert_with(|| json!({}));
    if dialect == Dialect::Loose {
        flat.remove("$schema");
    }
    Ok(flat)
}

fn kind(is_rewritten: bool, is_described: bool) -> ChangeKind {
    match (is_rewritten, is_described) {
        (true, _) => ChangeKind::Rewritten,
        (false, true) => ChangeKind::Described,
        (false, false) => ChangeKind::Dropped,
    }
}
