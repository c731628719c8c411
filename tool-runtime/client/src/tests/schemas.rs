//! Schemas of servers that are not of 2020-12.

use super::support::{call, connected, is, pool, rejection, result, scripted};
use crate::{McpManager, McpPin, McpServerStatus};
use serde_json::{Value, json};
use tool_runtime_core::pool::{ToolPool, ToolStatus};
use tool_runtime_core::tool::{ToolCall, ToolDefinition};
use tool_runtime_core::vocabulary::error::ErrorClass;

/// A pool with the tool `t` of the server `s`, whose argument `p` has this schema.
async fn with(property: Value) -> (ToolPool, McpManager) {
    with_schema(json!({ "type": "object", "properties": { "p": property } })).await
}

async fn with_schema(schema: Value) -> (ToolPool, McpManager) {
    let tools = json!({ "tools": [{ "name": "t", "inputSchema": schema }] });
    connected(move |message| is(message, "tools/list").then(|| result(message, &tools))).await
}

fn status(manager: &McpManager) -> McpServerStatus {
    manager.server("s").unwrap()
}

async fn is_accepted(pool: &ToolPool, p: Value) -> bool {
    let call = ToolCall::new("s.t", json!({ "p": p }).to_string());
    match pool.call(call).await.error() {
        None => true,
        Some(error) => {
            assert_eq!(error.class(), ErrorClass::Input, "{error}");
            false
        }
    }
}

#[tokio::test]
async fn a_schema_with_one_meaning_is_usable_and_the_repair_is_reported() {
    let text = json!({ "type": "string" });
    for (property, valid, invalid, repair) in [
        (
            json!({ "items": [text, { "type": "integer" }] }),
            json!(["a", 1]),
            json!(["a", "b"]),
            "tuple",
        ),
        (json!({ "minimum": 0, "exclusiveMinimum": true }), json!(1), json!(0), "draft 4"),
        (json!({ "type": "string", "description": null }), json!("a"), json!(1), "null is read as"),
        (json!({ "type": "array", "items": null }), json!([1]), json!(1), "null is read as"),
        (json!({ "type": "STRING" }), json!("a"), json!(1), "in capitals"),
        (json!({ "type": "string", "nullable": true }), json!(null), json!(1), "`nullable`"),
    ] {
        let (pool, manager) = with(property.clone()).await;
        assert!(is_accepted(&pool, valid).await, "{property}");
        assert!(!is_accepted(&pool, invalid).await, "{property}");
        let problems = status(&manager).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        let report = "its tool `t`: its `inputSchema` is repaired: ";
        assert!(problems[0].starts_with(report) && problems[0].contains(repair), "{problems:?}");
        assert_eq!(status(&manager).tools, 1);
    }
}

#[tokio::test]
async fn a_property_that_says_it_is_required_is() {
    let (pool, _manager) = with(json!({ "type": "string", "required": true })).await;
    let text = rejection(&pool, "s.t").await;
    assert!(text.contains("`p`"), "{text}");
    assert_eq!(pool.get("s.t").unwrap().definition().input_schema["required"], json!(["p"]));
}

#[tokio::test]
async fn keywords_that_are_null_are_absent_in_input_and_output() {
    let tools = json!({ "tools": [{
        "name": "t",
        "title": null,
        "inputSchema": { "type": "object", "properties": null, "required": null },
        "outputSchema": { "type": "object", "properties": null },
        "annotations": null,
    }] });
    let (pool, _manager) =
        connected(move |message| is(message, "tools/list").then(|| result(message, &tools))).await;
    assert_eq!(call(&pool, "s.t").await.observation().to_text(), "done");
    let tool = pool.get("s.t").unwrap();
    let definition = tool.definition();
    assert_eq!(Value::from(definition.input_schema.clone()), json!({ "type": "object" }));
    assert_eq!(definition.output_schema.clone().unwrap().len(), 1);
}

#[tokio::test]
async fn a_declared_draft_is_offered_as_the_newest_without_a_problem() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "p": { "$ref": "#/definitions/pair" } },
        "definitions": { "pair": { "items": [{ "type": "integer" }], "additionalItems": false } },
    });
    let (pool, manager) = with_schema(schema).await;
    assert_eq!(status(&manager).problems, [""; 0]);
    assert!(is_accepted(&pool, json!([1])).await && !is_accepted(&pool, json!([1, 2])).await);
    let offered = json!({
        "type": "object",
        "properties": { "p": { "$ref": "#/$defs/pair" } },
        "$defs": { "pair": { "prefixItems": [{ "type": "integer" }], "items": false } },
    });
    let definition = pool.get("s.t").unwrap().definition().input_schema.clone();
    assert_eq!(Value::from(definition), offered);
}

#[tokio::test]
async fn a_repaired_tool_is_pinned_as_the_server_wrote_it() {
    let schema = |kind: &str| json!({ "type": "object", "properties": { "p": { "type": kind } } });
    let pin = |schema: Value| {
        let mut original = ToolDefinition::new("t", "");
        original.input_schema = schema.as_object().unwrap().clone();
        McpPin::from_definition(&original)
    };
    let (_pool, manager) = with_schema(schema("STRING")).await;
    let pins = manager.pins();
    assert_eq!(pins.servers["s"]["t"], pin(schema("STRING")));
    assert_ne!(pins.servers["s"]["t"], pin(schema("string")));

    // Another way to write the same is a change.
    let pool = pool();
    let tools = json!({ "tools": [{ "name": "t", "inputSchema": schema("string") }] });
    let later = scripted(move |message| is(message, "tools/list").then(|| result(message, &tools)));
    let later = later.only_approved(pins).connect(&pool).await.unwrap();
    assert_eq!(later.unapproved()[0].changed, ["schema"]);
    assert!(rejection(&pool, "s.t").await.contains("changed after it was approved"));
}

#[tokio::test]
async fn a_type_without_one_meaning_is_held_back_with_its_path() {
    for kind in ["any", "file", "float", "int", "list", "", "STR"] {
        let (pool, _manager) = with(json!({ "type": kind })).await;
        let report = pool.report().tools;
        let ToolStatus::Quarantined { reason } = &report[0].status else {
            panic!("{kind}: {report:?}");
        };
        assert!(reason.contains(&format!("`properties.p.type`: \"{kind}\"")), "{reason}");
    }
}
