//! Calls that a scenario requires.

use crate::host::made_up;
use serde_json::{Map, Value, json};
use std::error::Error;
use tool_runtime::{ToolCall, ToolDefinition, ToolPool};

/// The suite's description of a scenario, as JSON.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// The calls of a scenario, in order.
pub(crate) fn required(scenario: &str, pool: &ToolPool) -> Result<Vec<ToolCall>, Box<dyn Error>> {
    if let Some(calls) = context()?["toolCalls"].as_array() {
        return Ok(calls
            .iter()
            .map(|context| call(&context["name"], &context["arguments"]))
            .collect());
    }
    let snapshot = pool.snapshot();
    let definitions = snapshot.tools().iter().map(|tool| tool.definition());
    if scenario == "json-schema-2020-12-preservation" {
        let focal =
            definitions.clone().find(|tool| tool.name.ends_with(".json_schema_2020_12_tool"));
        let schema = &focal.ok_or("the tool with the schema is missing")?.input_schema;
        return Ok(vec![call(&json!("json_schema_echo"), &json!({ "schema": schema }))]);
    }
    Ok(definitions.map(|tool| ToolCall::new(&*tool.name, arguments(tool).to_string())).collect())
}

pub(crate) fn context() -> Result<Value, Box<dyn Error>> {
    match std::env::var(CONTEXT) {
        Ok(context) => Ok(serde_json::from_str(&context)?),
        Err(_) => Ok(Value::Null),
    }
}

fn call(name: &Value, arguments: &Value) -> ToolCall {
    let name = name.as_str().unwrap_or_default();
    ToolCall::new(format!("suite.{name}"), arguments.to_string())
}

/// Made-up values for the required arguments of a tool.
fn arguments(tool: &ToolDefinition) -> Value {
    let schema = &tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let names = required.filter_map(Value::as_str);
    let argument = |name: &str| {
        let schema = schema.get("properties").and_then(|properties| properties.get(name));
        (name.to_owned(), schema.map_or(json!("something"), made_up))
    };
    Value::Object(names.map(argument).collect::<Map<_, _>>())
}
