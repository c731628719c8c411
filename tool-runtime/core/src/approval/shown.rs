//! Arguments for people, without those that are secret.

use crate::definition::ToolDefinition;
use crate::schema::check::hide_secrets;
use serde_json::Value;

/// Replaces a secret argument.
const HIDDEN: &str = "***";

/// The arguments as JSON text without secret ones.
pub(super) fn arguments(arguments: &str, definition: &ToolDefinition) -> String {
    let Ok(values) = serde_json::from_str::<Value>(arguments) else {
        // Secrets cannot be found in it.
        let mut text = Value::from(arguments);
        hide_secrets(&mut text, &definition.input_schema, HIDDEN);
        return text.as_str().unwrap_or(HIDDEN).to_owned();
    };
    let mut shown = values.clone();
    hide_secrets(&mut shown, &definition.input_schema, HIDDEN);
    // The text of the model, where nothing is hidden.
    match shown == values {
        true => arguments.to_owned(),
        false => shown.to_string(),
    }
}

/// An edited text with the values that were hidden in what was shown.
pub(super) fn restore(edited: &mut Value, shown: &Value, own: &Value) {
    if edited == shown {
        edited.clone_from(own);
        return;
    }
    match (edited, shown, own) {
        (Value::Object(edited), Value::Object(shown), Value::Object(own)) => {
            for (name, value) in edited {
                if let (Some(shown), Some(own)) = (shown.get(name), own.get(name)) {
                    restore(value, shown, own);
                }
            }
        }
        (Value::Array(edited), Value::Array(shown), Value::Array(own))
            if edited.len() == own.len() =>
        {
            for (value, (shown, own)) in edited.iter_mut().zip(shown.iter().zip(own)) {
                restore(value, shown, own);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::ApprovalRequest;
    use serde_json::json;

    fn definition(schema: Value) -> ToolDefinition {
        let mut definition = ToolDefinition::new("login", "Log in.");
        definition.input_schema = schema.as_object().unwrap().clone();
        definition
    }

    fn request(schema: Value, arguments: &Value) -> ApprovalRequest {
        let request = ApprovalRequest::new("login", arguments.to_string(), "Log in?");
        request.hiding_secrets(&definition(schema))
    }

    fn server() -> Value {
        json!({
            "properties": { "server": { "$ref": "#/$defs/server" }, "port": {} },
            "$defs": { "server": { "properties": { "host": {}, "password": { "writeOnly": true } } } },
        })
    }

    #[test]
    fn a_person_sees_all_but_the_secrets_of_nested_arguments() {
        let arguments = json!({ "port": 1, "server": { "host": "a", "password": "p" } });
        let shown = r#"{"port":1,"server":{"host":"a","password":"***"}}"#;
        assert_eq!(request(server(), &arguments).shown_arguments(), shown);
        let open = json!({ "properties": { "server": { "$ref": "#/$defs/server" } }, "$defs": { "server": {} } });
        assert_eq!(request(open, &arguments).shown_arguments(), arguments.to_string());
    }

    #[test]
    fn an_edit_beside_a_hidden_secret_keeps_it() {
        let arguments = json!({ "port": 1, "server": { "host": "a", "password": "p" } });
        let edited = r#"{"port":1,"server":{"host":"b","password":"***"}}"#;
        let expected = r#"{"port":1,"server":{"host":"b","password":"p"}}"#;
        assert_eq!(request(server(), &arguments).edited(edited).unwrap(), expected);
    }

    #[test]
    fn a_text_that_is_not_json_is_hidden_where_it_may_have_a_secret() {
        assert_eq!(arguments("{\"p", &definition(server())), HIDDEN);
        assert_eq!(arguments("{\"p", &definition(json!({}))), "{\"p");
    }
}
