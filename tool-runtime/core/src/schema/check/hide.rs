//! Arguments without those that a schema marks as secret.

use super::parts;
use super::secrets::{Secrets, is_secret};
use super::survey::{self, Survey};
use crate::schema::engine;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Replaces values that a schema marks as secret, as `#[arg(secret)]` does. Hidden as well, since they may be secret: names
/// that no schema lists, in an object that has secrets; values whose schema has an unknown `$ref`; everything, if
/// the arguments are not an object.
pub fn hide_secrets(arguments: &mut Value, schema: &Map<String, Value>, hidden: &str) {
    if !schema.values().any(has_secrets) {
        return;
    }
    if !arguments.is_object() {
        *arguments = hidden.into();
        return;
    }
    let root = Value::Object(schema.clone());
    let (mut objects, mut unknown) = (HashMap::new(), HashSet::new());
    let secrets = Secrets::search(&root, arguments, engine::linked(), &mut |schema, value| {
        let address = std::ptr::from_ref(value);
        if schema.contains_key("$ref") && parts::target(&root, schema).is_none() {
            unknown.insert(address);
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let listed: &mut Listed<'_> = objects.entry(address).or_default();
            listed.names.extend(properties.keys().map(String::as_str));
            listed.takes_others |= ["additionalProperties", "unevaluatedProperties"]
                .into_iter()
                .any(|keyword| schema.get(keyword).is_some_and(Value::is_object));
            listed.has_secrets |= properties.values().any(may_have_secrets);
        }
    });
    let is_hidden =
        |value: &Value| secrets.marks(value) || unknown.contains(&std::ptr::from_ref(value));
    hide(arguments, hidden, &is_hidden, &objects);
}

/// The properties of an object.
#[derive(Default)]
struct Listed<'s> {
    names: HashSet<&'s str>,
    has_secrets: bool,
    /// Whether a schema describes names that are not listed.
    takes_others: bool,
}

impl Listed<'_> {
    /// Whether the name may be an alias of a secret.
    fn may_hide(&self, name: &str) -> bool {
        self.has_secrets && !self.takes_others && !self.names.contains(name)
    }
}

fn hide(
    value: &mut Value,
    hidden: &str,
    is_hidden: &impl Fn(&Value) -> bool,
    objects: &HashMap<*const Value, Listed<'_>>,
) {
    if is_hidden(value) {
        *value = hidden.into();
        return;
    }
    let listed = objects.get(&std::ptr::from_ref(value));
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match listed.is_some_and(|listed| listed.may_hide(name)) {
                    true => *member = hidden.into(),
                    false => hide(member, hidden, is_hidden, objects),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| hide(item, hidden, is_hidden, objects));
        }
        _ => {}
    }
}

fn has_secrets(schema: &Value) -> bool {
    Survey::of(schema).write_only
}

/// A reference may lead to a secret.
fn may_have_secrets(schema: &Value) -> bool {
    let mut objects = survey::everything(schema).filter_map(Value::as_object);
    objects.any(|object| is_secret(object) || object.contains_key("$ref"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hidden(schema: Value, mut arguments: Value) -> Value {
        hide_secrets(&mut arguments, schema.as_object().unwrap(), "..");
        arguments
    }

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
        let arguments = json!({
            "token": 1, "list": [login], "either": login, "open": { "a": "b" }, "other": "seen",
        });
        let login = json!({ "user": "ada", "password": ".." });
        let expected = json!({
            "token": "..", "list": [login], "either": login, "open": { "a": ".." }, "other": "seen",
        });
        assert_eq!(hidden(schema, arguments), expected);
    }

    #[test]
    fn every_keyword_that_leads_to_a_secret_is_followed() {
        engine::enable();
        let secret = json!({ "properties": { "key": { "writeOnly": true } } });
        let key = json!({ "key": "k", "id": 1 });
        for schema in [
            json!({ "patternProperties": { "^ke": { "writeOnly": true } } }),
            json!({ "unevaluatedProperties": { "writeOnly": true }, "properties": { "id": {} } }),
            json!({ "if": {}, "then": secret, "properties": { "id": {} } }),
            json!({ "else": secret, "properties": { "id": {} } }),
            json!({ "$ref": "#login", "$defs": { "a": { "$anchor": "login", "allOf": [secret] } }, "properties": { "id": {} } }),
            json!({ "$ref": "#/$defs/Log%20in", "$defs": { "Log in": secret }, "properties": { "id": {} } }),
            json!({ "allOf": [secret, { "properties": { "id": {} } }] }),
        ] {
            assert_eq!(
                hidden(schema.clone(), key.clone()),
                json!({ "key": "..", "id": 1 }),
                "{schema}"
            );
        }
    }

    #[test]
    fn a_reference_without_a_target_is_hidden() {
        let schema = json!({
            "properties": { "a": { "$ref": "other.json" }, "b": {}, "c": { "writeOnly": true } },
        });
        let arguments = json!({ "a": { "password": "p" }, "b": 1 });
        assert_eq!(hidden(schema, arguments), json!({ "a": "..", "b": 1 }));
    }

    #[test]
    fn names_that_may_be_aliases_of_secrets_are_hidden() {
        let login = json!({ "properties": { "password": { "writeOnly": true } }, "additionalProperties": false });
        let schema = json!({ "properties": { "login": { "$ref": "#/$defs/login" }, "free": {} }, "$defs": { "login": login } });
        let arguments =
            json!({ "login": { "pw": "p" }, "free": { "pw": "seen" }, "lg": { "password": "p" } });
        let expected = json!({ "login": { "pw": ".." }, "free": { "pw": "seen" }, "lg": ".." });
        assert_eq!(hidden(schema, arguments), expected);
    }

    #[test]
    fn a_schema_without_secrets_hides_nothing() {
        let schema =
            json!({ "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": {} } });
        let arguments = json!({ "a": { "b": 1 }, "c": 2 });
        assert_eq!(hidden(schema, arguments.clone()), arguments);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#", "properties": { "a": { "writeOnly": true }, "b": { "$ref": "#" } } });
        let arguments = json!({ "a": "secret", "b": { "a": "secret", "b": null } });
        assert_eq!(hidden(schema, arguments), json!({ "a": "..", "b": { "a": "..", "b": null } }));
    }

    #[test]
    fn arguments_that_are_no_object_are_hidden_whole() {
        let schema = json!({ "properties": { "a": { "writeOnly": true } } });
        assert_eq!(hidden(schema, json!(["secret"])), json!(".."));
    }
}
