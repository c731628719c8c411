//! Names of tools and arguments that an API rejects.

use super::super::support::Echo;
use serde_json::json;
use tool_runtime::export::Api;
use tool_runtime::prelude::*;

fn pool() -> ToolPool {
    let echo = |name: &str, property: &str| {
        let schema = json!({
            "type": "object",
            "properties": { property: { "type": "string" }, "n": { "type": "integer" } },
            "required": [property],
        });
        Tool::new(ToolDefinition::new(name, "Echo.").with_input_schema(schema), Echo)
    };
    ToolPool::builder()
        .add(echo("fs.read", "x-path"))
        .add(echo("fs__read", "$filter"))
        .build()
        .unwrap()
}

#[tokio::test]
async fn names_are_mapped_back_exactly() {
    let pool = pool();
    let export = pool.snapshot().export(Api::Gemini);
    let functions = &export.definitions()[0]["functionDeclarations"];
    assert_eq!(functions[0]["name"], "fs__read");
    let other = functions[1]["name"].as_str().unwrap();
    assert!(other.starts_with("fs__read_") && other.len() == 17, "{other}");
    let argument = |index: usize| {
        let properties =
            functions[index]["parametersJsonSchema"]["properties"].as_object().unwrap();
        properties.keys().next().unwrap().clone()
    };
    let call = |index: usize| json!({ "functionCall": { "name": functions[index]["name"], "args": { argument(index): "a", "n": 1 } } });
    let answer = json!({ "candidates": [{ "content": { "parts": [call(0), call(1)] } }] });
    let results = pool.call_all(export.calls(&answer).unwrap()).await;
    assert_eq!(results[0].observation().to_text(), r#"{"x-path":"a","n":1}"#);
    assert_eq!(results[1].observation().to_text(), r#"{"$filter":"a","n":1}"#);
    let messages = export.next_messages(&answer, &results).unwrap();
    assert_eq!(messages[1]["parts"][1]["functionResponse"]["name"], other);
}

#[tokio::test]
async fn arguments_are_renamed_without_strict_mode_too() {
    let schema = json!({
        "type": "object",
        "properties": {
            "$filter": { "type": "string", "default": "$filter" },
            "items": { "type": "array", "items": { "$ref": "#/$defs/Item" } },
            "again": { "$ref": "#/properties/$filter" },
        },
        "required": ["$filter"],
        "$defs": { "Item": {
            "type": "object",
            "properties": { "@id": { "type": "integer" }, "properties": { "enum": ["@id"] } },
            "required": ["@id"],
        } },
    });
    let tool = Tool::new(ToolDefinition::new("list", "Echo.").with_input_schema(schema), Echo);
    let pool = ToolPool::builder().add(tool).build().unwrap();
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses] {
        let export = pool.snapshot().export(api);
        let text = export.json();
        assert!(!text.contains("\"$filter\":") && !text.contains("\"@id\":"), "{text}");
    }
    let export = pool.snapshot().export(Api::Anthropic);
    let schema = &export.definitions()[0]["input_schema"];
    let filter = schema["required"][0].as_str().unwrap();
    assert!(schema["properties"].get(filter).is_some(), "{schema}");
    assert_eq!(schema["properties"]["again"]["$ref"], format!("#/properties/{filter}"));
    assert_eq!(schema["properties"][filter]["default"], "$filter", "a value is not a name");
    let id = schema["$defs"]["Item"]["required"][0].as_str().unwrap();
    assert_eq!(schema["$defs"]["Item"]["properties"]["properties"]["enum"], json!(["@id"]));
    let input = json!({ filter: "a", "items": [{ id: 7 }] });
    let answer = json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "t", "name": "list", "input": input },
    ] });
    let results = pool.call_all(export.calls(&answer).unwrap()).await;
    assert_eq!(results[0].observation().to_text(), r#"{"$filter":"a","items":[{"@id":7}]}"#);
}

#[tokio::test]
async fn a_pool_accepts_exported_names() {
    let pool = pool();
    let result = pool.call(ToolCall::new("fs__read", r#"{"$filter":"a"}"#)).await;
    assert_eq!(result.observation().to_text(), r#"{"$filter":"a"}"#, "an exact name comes first");
    let wire = pool.get("fs__read").unwrap().definition().wire_name().into_owned();
    let result = pool.call(ToolCall::new(&wire, "{}")).await;
    assert_eq!(result.observation().to_text(), "{}");
    let dotted = Tool::builder("fs.write", "Write.").handler(|| async { "written" });
    let pool = ToolPool::builder().add(dotted).build().unwrap();
    let call = || ToolCall::new("fs__write", "{}");
    assert_eq!(pool.call(call()).await.observation().to_text(), "written");
    let _none = pool.restrict(["fs.re*"]).unwrap();
    let denied = pool.call(call()).await.observation().to_text();
    assert!(denied.contains("`fs__write` is not available now"), "{denied}");
}

#[test]
fn an_export_is_made_once_for_each_format() {
    let pool = pool();
    let one = pool.snapshot().export(Api::Anthropic);
    assert!(std::sync::Arc::ptr_eq(&one, &pool.snapshot().export(Api::Anthropic)));
    assert_ne!(one.json(), pool.snapshot().export(Api::OpenAiChat).json());
    // Another pool of the same tools.
    assert_eq!(one.json(), self::pool().snapshot().export(Api::Anthropic).json());
}
