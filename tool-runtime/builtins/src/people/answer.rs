//! The tool that ends the run of an agent with its answer.

use serde_json::{Map, Value, json};
use tool_runtime::agent::AgentRun;
use tool_runtime::prelude::*;

/// `finish`, which takes a string, and an answer with this schema if there is one.
pub(crate) fn finish(name: String, answer: Option<&Value>) -> Tool {
    let text = "End the task with your answer, once nothing is left to do. Other calls of the same turn still run.";
    Tool::builder(name, text)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false)
        .tags(["advanced"])
        .input_schema(schema(answer))
        .handler(|arguments: Map<String, Value>, context: ToolContext| async move {
            end(&arguments, &context)
        })
}

fn schema(answer: Option<&Value>) -> Value {
    let message = json!({ "type": "string", "description": "The answer, for people." });
    match answer {
        None => json!({
            "type": "object",
            "properties": { "message": message },
            "required": ["message"],
            "additionalProperties": false,
        }),
        Some(answer) => {
            let mut answer = answer.clone();
            let definitions = answer.as_object_mut().and_then(|answer| answer.remove("$defs"));
            let mut schema = json!({
                "type": "object",
                "properties": { "message": message, "answer": answer },
                "required": ["answer"],
                "additionalProperties": false,
            });
            // References begin at the root.
            if let Some(definitions) = definitions {
                schema["$defs"] = definitions;
            }
            schema
        }
    }
}

fn end(arguments: &Map<String, Value>, context: &ToolContext) -> Result<Observation, ToolError> {
    let value = arguments.get("answer");
    let message = arguments.get("message").and_then(Value::as_str).filter(|text| !text.is_empty());
    let text = match (message, value) {
        (Some(message), _) => message.to_owned(),
        (None, value) => value.map(Value::to_string).unwrap_or_default(),
    };
    // A program that is not an agent loop gets the answer only as the result.
    if let Some(run) = context.get::<AgentRun>() {
        run.finish(&text, value.cloned());
    }
    Ok(Observation::text(text))
}
