//! Compares schemas with those of OpenAI's and Google's own libraries.

use super::generate::schemas;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use suite::peers::{Program, peer};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, ApiFormat as _, Exported};

const COUNT: usize = 500;

/// Keywords that this library moves into the description, although the provider's library passes them on: the API
/// documents them as unsupported.
const OPENAI_UNSUPPORTED: [&str; 3] = ["default", "minLength", "maxLength"];
const OPENAI_FORMATS: [&str; 2] = ["date", "date-time"];
const GEMINI_UNSUPPORTED: [&str; 4] = ["default", "min_length", "max_length", "pattern"];

fn definition(schema: &Map<String, Value>) -> ToolDefinition {
    let mut definition = ToolDefinition::new("tool", "A tool.");
    definition.input_schema = schema.clone();
    definition
}

fn gemini_of(exported: &Exported) -> Value {
    exported.tools[0]["functionDeclarations"][0]["parametersJsonSchema"].clone()
}

#[test]
fn schemas_equal_those_of_the_official_libraries() {
    // The libraries do not rename arguments.
    let renamed = Value::from_iter(schemas(COUNT)).to_string();
    let renamed = renamed.replace("kebab-name", "kebab_name").replace("dot.name", "dot_name");
    let schemas: Vec<Map<String, Value>> = serde_json::from_str(&renamed).unwrap();
    let exports: Vec<[Exported; 2]> = schemas
        .iter()
        .map(|schema| {
            let definition = definition(schema);
            [
                Api::OpenAiChat.strict().definitions(&[&definition]),
                Api::Gemini.definitions(&[&definition]),
            ]
        })
        .collect();
    let pairs: Vec<Value> = schemas
        .iter()
        .zip(&exports)
        .map(|(schema, [_, gemini])| json!([schema, gemini_of(gemini)]))
        .collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemas.json");
    fs::write(&file, Value::Array(pairs).to_string()).unwrap();
    let ended = peer(Program::Python("transform.py"), &[file.to_str().unwrap()]);
    assert!(ended.is_success(), "{}", ended.described());
    let theirs: Vec<Value> = serde_json::from_str(super::printed(&ended)).unwrap();

    let mut strict = 0;
    for ((schema, [openai, _]), theirs) in schemas.iter().zip(&exports).zip(&theirs) {
        if openai.reports[0].is_strict {
            strict += 1;
            let mut ours = openai.tools[0]["function"]["parameters"].clone();
            let mut sdk = theirs["openai"].clone();
            as_openai_documents(&mut sdk, &Value::Object(schema.clone()), schema);
            without(&mut ours, &["description"]);
            without(&mut sdk, &["description"]);
            assert_eq!(ours, sdk, "{}", Value::Object(schema.clone()));
        }
        let [mut before, mut after] = [theirs["gemini"][0].clone(), theirs["gemini"][1].clone()];
        for google in [&mut before, &mut after] {
            without(google, &["description"]);
            without(google, &GEMINI_UNSUPPORTED);
        }
        assert_eq!(before, after, "{}", Value::Object(schema.clone()));
    }
    // The others have maps, which strict schemas cannot express.
    assert!(strict > COUNT / 2, "{strict}");
}

/// The expected differences: optional arguments accept `null`, `oneOf` becomes `anyOf`, unsupported keywords and
/// formats are moved into the description.
fn as_openai_documents(sdk: &mut Value, schema: &Value, root: &Map<String, Value>) {
    let Some(map) = sdk.as_object_mut() else { return };
    map.retain(|keyword, _| !OPENAI_UNSUPPORTED.contains(&keyword.as_str()));
    if map.get("format").is_some_and(|format| OPENAI_FORMATS.iter().all(|known| known != format)) {
        map.remove("format");
    }
    if let Some(alternatives) = map.remove("oneOf") {
        // The alternatives have the type.
        map.remove("type");
        map.insert("anyOf".to_owned(), alternatives);
    }
    // A reference with a description was expanded.
    let target = match schema["$ref"].as_str() {
        Some(target) if !map.contains_key("$ref") => {
            &root["$defs"][target.trim_start_matches("#/$defs/")]
        }
        _ => schema,
    };
    for (name, sdk) in map.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten() {
        as_openai_documents(sdk, &target["$defs"][name], root);
    }
    for (name, sdk) in
        map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        let own_property = &target["properties"][name];
        as_openai_documents(sdk, own_property, root);
        let is_required =
            target["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        if !is_required && !accepts_null(own_property) {
            make_nullable(sdk);
        }
    }
    if let Some(items) = map.get_mut("items") {
        as_openai_documents(items, &target["items"], root);
    }
    for (index, sdk) in
        map.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
    {
        let keyword = if target["oneOf"].is_array() { "oneOf" } else { "anyOf" };
        as_openai_documents(sdk, &target[keyword][index], root);
    }
}

fn accepts_null(schema: &Value) -> bool {
    let by_type = schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("null")));
    let is_null = |branch: &Value| branch["type"] == "null";
    by_type
        || is_null(schema)
        || schema["anyOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| is_null(one) || accepts_null(one)))
}

fn make_nullable(schema: &mut Value) {
    if schema["anyOf"].is_array() {
        schema["anyOf"].as_array_mut().unwrap().push(json!({ "type": "null" }));
    } else if schema["$ref"].is_string() {
        *schema = json!({ "anyOf": [schema, { "type": "null" }] });
    } else {
        schema["type"] = json!([schema["type"], "null"]);
        if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            values.push(Value::Null);
        }
    }
}

fn without(value: &mut Value, keywords: &[&str]) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| !keywords.contains(&key.as_str()) || value.is_object());
            map.values_mut().for_each(|value| without(value, keywords));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without(item, keywords)),
        _ => {}
    }
}
