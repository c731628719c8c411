//! Answers to the questions of servers.

use serde_json::{Map, Value, json};
use tool_runtime::BoxFuture;
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};

/// A host that fills in each form with its defaults, has one root, and a model with a fixed answer.
pub(crate) struct Host;

impl Peer for Host {
    fn can(&self, _: PeerCapability) -> bool {
        true
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        let answer = match request.capability() {
            PeerCapability::Elicitation => {
                json!({ "action": "accept", "content": filled_in(request.params()) })
            }
            PeerCapability::Sampling => json!({
                "role": "assistant",
                "content": { "type": "text", "text": "Yes." },
                "model": "none",
                "stopReason": "endTurn",
            }),
            PeerCapability::Roots => json!({ "roots": [{ "uri": "file:///srv", "name": "srv" }] }),
            _ => json!({ "action": "decline" }),
        };
        Box::pin(async move { Ok(answer) })
    }
}

fn filled_in(params: &Map<String, Value>) -> Map<String, Value> {
    let properties = params["requestedSchema"]["properties"].as_object();
    let fields = properties.into_iter().flatten();
    fields.map(|(name, schema)| (name.clone(), made_up(schema))).collect()
}

/// A value that a schema takes: its default, if it has one.
pub(crate) fn made_up(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(2),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("something"),
    }
}
