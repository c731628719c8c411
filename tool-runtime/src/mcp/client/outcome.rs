//! What a server answered to a call, as what a tool gives back.

use crate::content::ContentBlock;
use crate::observation::Observation;
use rmcp::model::{self, CallToolResult};
use serde_json::{Map, Value};

/// What a call gave back; nothing of it is lost. The structured value comes beside the rest.
pub(super) fn observation(result: CallToolResult, structured: Option<&Value>) -> Observation {
    let CallToolResult { content, is_error, meta, .. } = result;
    let mut observation = match structured {
        Some(value) => Observation::json(value).unwrap_or_default(),
        None => Observation::default(),
    };
    if !is_mirror(&content, observation.structured_json()) {
        observation = content.into_iter().map(block).fold(observation, Observation::with_content);
    }
    if let Some(meta) = meta {
        observation = with_meta(observation, meta.0);
    }
    observation.with_error(is_error.unwrap_or(false))
}

/// The text mirror of a structured value is written for others.
fn is_mirror(content: &[model::ContentBlock], structured: Option<&str>) -> bool {
    match (content, structured) {
        ([model::ContentBlock::Text(only)], Some(json)) => is_plain(only) && only.text == json,
        _ => false,
    }
}

fn is_plain(text: &model::TextContent) -> bool {
    text.meta.is_none() && text.annotations.is_none()
}

fn block(block: model::ContentBlock) -> ContentBlock {
    match block {
        model::ContentBlock::Text(text) if is_plain(&text) => ContentBlock::text(text.text),
        other => serde_json::to_value(other).map_or_else(
            |error| ContentBlock::text(format!("a block that cannot be read: {error}")),
            of_block,
        ),
    }
}

/// The same from JSON that MCP does not know in all its parts.
pub(super) fn of_json(mut value: Value) -> Observation {
    if let Ok(observation) = serde_json::from_value(value.clone()) {
        return observation;
    }
    let content = value.get_mut("content").map(Value::take).unwrap_or_default();
    let blocks = match content {
        Value::Array(blocks) => blocks,
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let mut observation = match value.get("structuredContent") {
        Some(structured) => Observation::json(structured).unwrap_or_default(),
        None => Observation::default(),
    };
    for block in blocks {
        observation = observation.with_content(of_block(block));
    }
    if let Some(Value::Object(meta)) = value.get_mut("_meta").map(Value::take) {
        observation = with_meta(observation, meta);
    }
    observation.with_error(value.get("isError") == Some(&Value::Bool(true)))
}

/// A block of a kind that is unknown here stays what it is: JSON, as text.
fn of_block(block: Value) -> ContentBlock {
    let text = block.to_string();
    serde_json::from_value(block).unwrap_or_else(|_| ContentBlock::text(text))
}

fn with_meta(observation: Observation, meta: Map<String, Value>) -> Observation {
    meta.into_iter()
        .fold(observation, |observation, (key, value)| observation.with_meta(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Observation {
        match serde_json::from_value(value.clone()) {
            Ok(result) => {
                let mut result: CallToolResult = result;
                let structured = result.structured_content.take();
                observation(result, structured.as_ref())
            }
            Err(_) => of_json(value),
        }
    }

    #[test]
    fn every_kind_of_content_survives() {
        let result = json!({
            "content": [
                { "type": "text", "text": "a", "annotations": { "priority": 0.5 } },
                { "type": "image", "data": "AA==", "mimeType": "image/png" },
                { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
                { "type": "resource", "resource": { "uri": "a:b", "text": "c" } },
                { "type": "resource_link", "uri": "a:b", "name": "d" },
            ],
            "structuredContent": { "n": 1 },
            "isError": true,
            "_meta": { "k": [1] },
        });
        assert_eq!(serde_json::to_value(read(result.clone())).unwrap(), result);
    }

    #[test]
    fn what_is_unknown_is_kept_as_text() {
        let result = json!({
            "content": [{ "type": "text", "text": "a" }, { "type": "hologram", "data": 1 }],
            "_meta": { "k": 1 },
            "isError": false,
        });
        let observation = read(result);
        assert_eq!(observation.content().len(), 2);
        assert!(observation.content()[1].as_text().unwrap().contains("hologram"));
        assert_eq!(observation.meta().unwrap()["k"], 1);
        assert!(!observation.is_error());
    }

    #[test]
    fn an_error_stays_an_error() {
        let observation =
            read(json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }));
        assert_eq!((observation.to_text().as_str(), observation.is_error()), ("no", true));
    }
}
