//! Arguments that must not be stored.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 4] = ["$defs", "definitions", "patternProperties", "dependentSchemas"];
/// Keywords whose value is not a schema.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// A name in the arguments that the schema of their tool marks as secret. If a tool has secrets, names that its schema
/// does not show count too: they may be other names of secrets.
pub(super) fn secret_name<'a>(
    schema: &Map<String, Value>,
    arguments: &'a Value,
) -> Option<&'a str> {
    let root = Value::Object(schema.clone());
    let mut properties = Vec::new();
    collect(&root, &mut properties);
    let mut is_secret = HashMap::new();
    for (name, schema) in properties {
        let own = holds_secret(&root, schema, &mut HashSet::new());
        *is_secret.entry(name).or_default() |= own;
    }
    let has_secrets =
        is_secret.values().any(|it| *it) || holds_secret(&root, &root, &mut HashSet::new());
    if has_secrets { refused(arguments, &is_secret) } else { None }
}

/// The first name, also of a nested value, that is secret or unknown.
fn refused<'a>(value: &'a Value, is_secret: &HashMap<&str, bool>) -> Option<&'a str> {
    match value {
        Value::Array(items) => items.iter().find_map(|item| refused(item, is_secret)),
        Value::Object(members) => {
            members.iter().find_map(|(name, value)| match is_secret.get(name.as_str()) {
                Some(false) => refused(value, is_secret),
                _ => Some(name.as_str()),
            })
        }
        _ => None,
    }
}

/// All properties of a schema and of the schemas in it.
fn collect<'a>(schema: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    match schema {
        Value::Array(schemas) => schemas.iter().for_each(|schema| collect(schema, found)),
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match value.as_object() {
                    _ if VALUES.contains(&keyword.as_str()) => {}
                    Some(properties) if keyword == "properties" => {
                        found.extend(properties.iter().map(|(name, it)| (name.as_str(), it)));
                        properties.values().for_each(|schema| collect(schema, found));
                    }
                    Some(schemas) if MAPS.contains(&keyword.as_str()) => {
                        schemas.values().for_each(|schema| collect(schema, found));
                    }
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Whether a schema marks its value, or a part of it that is not a property, as secret. A reference to an unknown path
/// may do so.
fn holds_secret<'a>(root: &'a Value, schema: &'a Value, seen: &mut HashSet<&'a str>) -> bool {
    match schema {
        Value::Array(schemas) => schemas.iter().any(|schema| holds_secret(root, schema, seen)),
        Value::Object(keywords) => keywords.iter().any(|(keyword, value)| match keyword.as_str() {
            "writeOnly" => value == &Value::Bool(true),
            "$ref" | "$dynamicRef" => value.as_str().is_none_or(|reference| {
                let target = reference.strip_prefix('#').and_then(|path| root.pointer(path));
                seen.insert(reference)
                    && target.is_none_or(|target| holds_secret(root, target, seen))
            }),
            "properties" | "$defs" | "definitions" => false,
            "patternProperties" | "dependentSchemas" => {
                let mut schemas = value.as_object().into_iter().flat_map(Map::values);
                schemas.any(|schema| holds_secret(root, schema, seen))
            }
            keyword if VALUES.contains(&keyword) => false,
            _ => holds_secret(root, value, seen),
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(schema: Value, arguments: Value) -> Option<String> {
        secret_name(schema.as_object().unwrap(), &arguments).map(str::to_owned)
    }

    fn login() -> Value {
        json!({
            "properties": { "user": { "type": "string" }, "login": { "$ref": "#/$defs/Login" } },
            "$defs": {
                "Login": { "properties": { "name": {}, "token": { "$ref": "#/$defs/Token" } } },
                "Token": { "writeOnly": true },
            },
        })
    }

    #[test]
    fn a_nested_secret_is_found_behind_references() {
        let arguments = json!({ "user": "a", "login": { "name": "b", "token": "c" } });
        assert_eq!(found(login(), arguments).as_deref(), Some("token"));
        let arguments = json!({ "user": "a", "login": { "name": "b" } });
        assert_eq!(found(login(), arguments), None);
    }

    #[test]
    fn another_name_may_be_that_of_a_secret() {
        let arguments = json!({ "login": { "api_key": "c" } });
        assert_eq!(found(login(), arguments).as_deref(), Some("api_key"));
    }

    #[test]
    fn secrets_may_be_in_lists_and_behind_unknown_references() {
        let keys = json!({ "properties": { "keys": { "items": { "writeOnly": true } } } });
        assert_eq!(found(keys, json!({ "keys": ["a"] })).as_deref(), Some("keys"));
        let far = json!({ "properties": { "key": { "$ref": "other.json" }, "id": {} } });
        assert_eq!(found(far.clone(), json!({ "key": "a" })).as_deref(), Some("key"));
        assert_eq!(found(far, json!({ "id": "a" })), None);
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_searched_once() {
        let node = json!({
            "properties": { "node": { "$ref": "#/$defs/Node" } },
            "$defs": { "Node": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "properties": { "next": { "$ref": "#/$defs/Node" } } }] } },
        });
        assert_eq!(found(node, json!({ "node": { "next": {}, "other": 1 } })), None);
    }
}
