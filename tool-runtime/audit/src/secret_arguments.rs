//! Arguments that the schema of a tool marks as secret.

use serde_json::{Map, Value};
use tool_runtime_core::seam::HIDDEN;

/// The most schemas that are looked at for one call, and the most within each other. Beyond, values are
/// hidden.
const MAX_SCHEMAS: u32 = 10_000;
const MAX_DEPTH: u32 = 64;

/// Replaces the values of properties whose schema says `writeOnly`, as `#[arg(secret)]` does. Names beside such
/// a property that the schema does not list are replaced as well: they may be its aliases. Arguments that are
/// not an object are hidden as a whole if the schema has such a property.
pub(crate) fn hide_secrets(arguments: &mut Value, schema: &Map<String, Value>) {
    if !schema.values().any(has_secrets) {
        return;
    }
    if !arguments.is_object() {
        *arguments = HIDDEN.into();
        return;
    }
    let root = Value::Object(schema.clone());
    Hiding { root: &root, budget: MAX_SCHEMAS, depth: MAX_DEPTH }.hide(arguments, &root);
}

fn has_secrets(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| (key == "writeOnly" && *value == true) || has_secrets(value)),
        Value::Array(items) => items.iter().any(has_secrets),
        _ => false,
    }
}

struct Hiding<'a> {
    root: &'a Value,
    budget: u32,
    depth: u32,
}

impl Hiding<'_> {
    fn hide(&mut self, value: &mut Value, schema: &Value) {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 || self.depth == 0 || schema["writeOnly"] == true {
            *value = HIDDEN.into();
            return;
        }
        self.depth -= 1;
        self.hide_parts(value, schema);
        self.hide_inside(value, schema);
        self.depth += 1;
    }

    /// The schemas that describe the same value.
    fn hide_parts(&mut self, value: &mut Value, schema: &Value) {
        let pointer = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
        if let Some(target) = pointer.and_then(|at| self.root.pointer(at)) {
            self.hide(value, target);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in schema[keyword].as_array().into_iter().flatten() {
                self.hide(value, part);
            }
        }
    }

    fn hide_inside(&mut self, value: &mut Value, schema: &Value) {
        match value {
            Value::Object(members) => {
                let properties = &schema["properties"];
                let is_alias_possible = has_secrets(properties);
                for (name, member) in members {
                    match properties.get(name).or(schema.get("additionalProperties")) {
                        Some(schema @ Value::Object(_)) => self.hide(member, schema),
                        _ if is_alias_possible => *member = HIDDEN.into(),
                        _ => {}
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let first = schema["prefixItems"].get(index);
                    if let Some(schema) = first.or(schema.get("items")) {
                        self.hide(item, schema);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_at_any_depth() {
        let schema = json!({
            "properties": {
                "token": { "writeOnly": true },
                "list": { "items": { "$ref": "#/$defs/login" } },
                "either": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/login" }] },
                "other": {},
                "open": { "additionalProperties": { "type": "string", "writeOnly": true } },
            },
            "$defs": {
                "login": { "properties": { "user": {}, "password": { "writeOnly": true } } },
            },
        });
        let login = json!({ "user": "ada", "password": ["p"] });
        let mut arguments = json!({
            "token": 1, "list": [login], "either": login, "open": { "a": "b" }, "other": "seen",
        });
        hide_secrets(&mut arguments, schema.as_object().unwrap());
        let login = json!({ "user": "ada", "password": ".." });
        let expected = json!({
            "token": "..", "list": [login], "either": login, "open": { "a": ".." }, "other": "seen",
        });
        assert_eq!(arguments, expected);
    }

    #[test]
    fn names_that_may_be_aliases_of_secrets_are_hidden() {
        let login = json!({ "properties": { "password": { "writeOnly": true } }, "additionalProperties": false });
        let schema = json!({ "properties": { "login": login, "free": {} }, "$defs": login });
        let mut arguments = json!({ "login": { "pw": "p" }, "free": { "pw": "seen" } });
        hide_secrets(&mut arguments, schema.as_object().unwrap());
        assert_eq!(arguments, json!({ "login": { "pw": ".." }, "free": { "pw": "seen" } }));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#", "properties": { "a": { "writeOnly": true } } });
        let mut arguments = json!({ "a": "secret", "b": 1 });
        hide_secrets(&mut arguments, schema.as_object().unwrap());
        assert!(!arguments.to_string().contains("secret"));
    }
}
