//! Round trip: definitions, a model's call, its execution, the result and the following messages.

use super::generate::{Rng, schemas};
use super::instances::instance;
use serde_json::{Map, Value, json};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, ApiFormat as _, Exported};

fn exported(schema: &Map<String, Value>, api: Api, is_strict: bool) -> Exported {
    let mut definition = ToolDefinition::new("tool", "A tool.");
    definition.input_schema = schema.clone();
    if is_strict {
        api.strict().definitions(&[&definition])
    } else {
        api.definitions(&[&definition])
    }
}

fn schema_of(api: Api, exported: &Exported) -> &Value {
    let tool = &exported.tools[0];
    match api {
        Api::Anthropic => &tool["input_schema"],
        Api::OpenAiChat => &tool["function"]["parameters"],
        Api::OpenAiResponses => &tool["parameters"],
        _ => &tool["functionDeclarations"][0]["parametersJsonSchema"],
    }
}

/// The arguments as written by a model: `null` for an absent argument if all are required.
fn as_written(
    value: &Value,
    own: &Value,
    sent: &Value,
    own_root: &Value,
    sent_root: &Value,
) -> Value {
    let (own, sent) = (resolved(own, own_root), resolved(sent, sent_root));
    match value {
        Value::Object(members) => {
            let mut written = Map::new();
            let (own_properties, sent_properties) =
                (own["properties"].as_object(), sent["properties"].as_object());
            let (Some(own_properties), Some(sent_properties)) = (own_properties, sent_properties)
            else {
                return value.clone();
            };
            for ((name, own), (wire, sent)) in own_properties.iter().zip(sent_properties) {
                if let Some(value) = members.get(name) {
                    written.insert(wire.clone(), as_written(value, own, sent, own_root, sent_root));
                }
            }
            for name in sent["required"].as_array().into_iter().flatten() {
                written.entry(name.as_str().unwrap()).or_insert(Value::Null);
            }
            Value::Object(written)
        }
        Value::Array(items) => items
            .iter()
            .map(|item| as_written(item, &own["items"], &sent["items"], own_root, sent_root))
            .collect(),
        other => other.clone(),
    }
}

/// Resolves a reference, and a union with `null`.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(target) = schema["$ref"].as_str() {
        return resolved(root.pointer(&target[1..]).unwrap(), root);
    }
    match schema["anyOf"].as_array() {
        Some(branches) => resolved(&branches[0], root),
        None => schema,
    }
}

fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members.map(|(key, value)| (key.clone(), without_null(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}

#[test]
fn arguments_of_every_schema_are_restored_for_the_tool() {
    let mut rng = Rng::new();
    let mut strict = [0, 0];
    for schema in schemas(300) {
        let original = Value::Object(schema.clone());
        let own_check = jsonschema::validator_for(&original).unwrap();
        for (api, is_strict) in [
            (Api::Anthropic, false),
            (Api::Anthropic, true),
            (Api::OpenAiChat, false),
            (Api::OpenAiResponses, true),
            (Api::Gemini, false),
        ] {
            let exported = exported(&schema, api, is_strict);
            let tool = exported
                .reports
                .first()
                .unwrap_or_else(|| panic!("{:?} {original}", exported.left_out));
            strict[usize::from(api == Api::Anthropic)] += usize::from(tool.is_strict);
            let sent = schema_of(api, &exported);
            let check = jsonschema::validator_for(sent).unwrap();
            for _ in 0..10 {
                let value = instance(&schema, &mut rng);
                if !own_check.is_valid(&value) {
                    continue;
                }
                let mut written = as_written(&value, &original, sent, &original, sent);
                let why = check.validate(&written).err().map(|error| error.to_string());
                assert_eq!(why, None, "{api}: {written}\n{original}\n{sent}");
                if let Some(restore) = &tool.restore {
                    restore(&mut written);
                }
                // If all arguments are required, a given `null` is removed like an absent argument.
                let (written, value) = (without_null(&written), without_null(&value));
                assert_eq!(written, value, "{api}: {original}\n{sent}");
            }
        }
    }
    assert!(strict.iter().all(|strict| *strict > 100), "{strict:?}");
}

#[test]
fn a_name_that_was_not_exported_is_unchanged() {
    let calls = Api::Anthropic.calls(&json!({ "content": [
        { "type": "tool_use", "id": "1", "name": "no.such", "input": {} },
    ] }));
    assert_eq!(calls.unwrap()[0].name(), "no.such");
}

#[test]
fn an_error_of_the_api_is_reported() {
    let error =
        Api::OpenAiChat.calls(&json!({ "error": { "message": "overloaded" } })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not an answer of OpenAI Chat Completions: it is the error \"overloaded\""
    );
}
