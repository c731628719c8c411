//! Arguments for people, without those that are secret.

use crate::definition::ToolDefinition;
use serde_json::{Map, Value};

/// Replaces a secret argument.
const HIDDEN: &str = "***";

/// The arguments as JSON text without secret ones. If a tool has some, unknown names are hidden as
/// well: they may be aliases.
pub(super) fn arguments(arguments: &str, definition: &ToolDefinition) -> String {
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    let has_secrets = properties.is_some_and(|all| all.values().any(is_secret));
    if !has_secrets {
        return arguments.to_owned();
    }
    let Ok(mut values) = serde_json::from_str::<Map<String, Value>>(arguments) else {
        return HIDDEN.to_owned();
    };
    for (name, value) in &mut values {
        let schema = properties.and_then(|all| all.get(name));
        if schema.is_none_or(is_secret) {
            *value = HIDDEN.into();
        }
    }
    Value::from(values).to_string()
}

/// Whether a value, or a part of it, is secret. A reference may lead to one.
fn is_secret(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.get("writeOnly") == Some(&Value::Bool(true))
                || members.contains_key("$ref")
                || members.values().any(is_secret)
        }
        Value::Array(items) => items.iter().any(is_secret),
        _ => false,
    }
}
