//! Converts the result of a call to an observation.

use super::verbatim::EXACT;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tool_runtime_core::seam::split_data_url;
use tool_runtime_core::tool::Observation;
use tool_runtime_core::vocabulary::content::ContentBlock;
use tool_runtime_mcp::numbers;

/// The observation of a result. Members that MCP does not have are kept.
pub(super) fn observation(result: Value) -> Observation {
    let Value::Object(mut members) = result else { return Observation::default() };
    // This member selects how a client reads the result.
    members.shift_remove("resultType");
    let structured = members.shift_remove("structuredContent");
    let text = members.shift_remove(EXACT);
    let blocks = blocks(members.shift_remove("content").unwrap_or_default());
    let mut observation = match &structured {
        Some(value) => match exact(value, text.as_ref(), &blocks) {
            Some(exact) => Observation::json(&exact).unwrap_or_default(),
            None => Observation::json(value).unwrap_or_default(),
        },
        None => Observation::default(),
    };
    if !is_mirror(&blocks, observation.structured_json()) {
        observation = blocks.into_iter().fold(observation, Observation::with_content);
    }
    if let Some(Value::Object(meta)) = members.shift_remove("_meta") {
        observation = with_meta(observation, meta);
    }
    let is_error = members.shift_remove("isError") == Some(Value::Bool(true));
    observation.with_error(is_error).with_other(members)
}

/// The exact JSON of a structured value, from the server or its text mirror, if a `Value` has
/// changed its numbers.
fn exact(
    structured: &Value,
    text: Option<&Value>,
    blocks: &[ContentBlock],
) -> Option<Box<RawValue>> {
    if let Some(Value::String(text)) = text {
        return numbers::exact(structured, text);
    }
    let [ContentBlock::Text(only)] = blocks else { return None };
    numbers::exact(structured, only.text())
}

/// Whether the only block repeats the structured value as text, for older clients.
fn is_mirror(blocks: &[ContentBlock], structured: Option<&str>) -> bool {
    match (blocks, structured) {
        ([ContentBlock::Text(only)], Some(json)) => only.extra.is_none() && only.text() == json,
        _ => false,
    }
}

fn blocks(content: Value) -> Vec<ContentBlock> {
    match content {
        Value::Array(blocks) => blocks.into_iter().map(block).collect(),
        Value::Null => Vec::new(),
        other => vec![block(other)],
    }
}

/// Converts a block. A block of an unknown kind is kept; a value that is not an object becomes text.
fn block(mut block: Value) -> ContentBlock {
    if let Some(text) = plain_text(&mut block) {
        return ContentBlock::text(text);
    }
    take_data_url(&mut block);
    if has_unknown_contents(&block)
        && let Value::Object(members) = block
    {
        return ContentBlock::Other(Box::new(members));
    }
    let text = if block.is_object() { String::new() } else { block.to_string() };
    serde_json::from_value(block).unwrap_or_else(|_| ContentBlock::text(text))
}

/// Reduces data of an image or sound that is a data URL to the base64 that MCP has, and takes its media type if the block
/// has none.
fn take_data_url(block: &mut Value) {
    let Some(members) = block.as_object_mut() else { return };
    let is_data = members.get("type").is_some_and(|kind| kind == "image" || kind == "audio");
    let data = members.get("data").and_then(Value::as_str).filter(|_| is_data);
    let Some((kind, base64)) = data.and_then(split_data_url) else { return };
    let (kind, base64) = (kind.to_owned(), base64.to_owned());
    members.insert("data".to_owned(), base64.into());
    if !members.get("mimeType").is_some_and(Value::is_string) && !kind.is_empty() {
        members.insert("mimeType".to_owned(), kind.into());
    }
}

/// Whether a resource has members that `ResourceContents` lacks.
fn has_unknown_contents(block: &Value) -> bool {
    let known = ["uri", "mimeType", "text", "blob", "_meta"];
    let contents = block.get("resource").and_then(Value::as_object);
    contents.is_some_and(|contents| contents.keys().any(|key| !known.contains(&key.as_str())))
}

/// Takes the text of a block that is nothing else.
fn plain_text(block: &mut Value) -> Option<String> {
    let members = block.as_object_mut().filter(|members| members.len() == 2)?;
    members.get("type").filter(|kind| *kind == "text")?;
    match members.get_mut("text") {
        Some(Value::String(text)) => Some(std::mem::take(text)),
        _ => None,
    }
}

fn with_meta(observation: Observation, meta: Map<String, Value>) -> Observation {
    meta.into_iter()
        .fold(observation, |observation, (key, value)| observation.with_meta(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(serde_json::to_value(observation(result.clone())).unwrap(), result);
    }

    #[test]
    fn unknown_parts_are_kept() {
        let result = json!({
            "content": [
                { "type": "text", "text": "a", "voice": "low" },
                { "type": "hologram", "data": 1 },
                { "type": "image", "data": 5 },
                { "type": "resource", "resource": { "uri": "a:b", "text": "c", "size": 1 } },
                { "type": "resource_link", "uri": "a:b", "name": "d", "icons": [{ "src": "x" }] },
            ],
            "_meta": { "k": 1 },
            "cost": { "cents": 3 },
        });
        let mut sent = result.clone();
        sent["resultType"] = "complete".into();
        let observation = observation(sent);
        assert_eq!(serde_json::to_value(&observation).unwrap(), result);
        assert!(observation.to_text().contains("hologram"), "models see it as JSON");
        assert!(!observation.is_error());
    }

    #[test]
    fn content_that_is_not_a_list_of_blocks_is_shown() {
        assert_eq!(observation(json!({ "content": "done" })).to_text(), "\"done\"");
        assert_eq!(observation(json!({ "content": ["a", 1] })).to_text(), "\"a\"\n1");
        assert_eq!(observation(json!({ "content": null })).content().len(), 0);
    }

    #[test]
    fn a_text_mirror_is_not_separate_content() {
        let result = json!({
            "content": [{ "type": "text", "text": "{\"n\":1}" }], "structuredContent": { "n": 1 },
        });
        assert_eq!(observation(result).content().len(), 0);
    }

    #[test]
    fn an_error_stays_an_error() {
        let observation =
            observation(json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }));
        assert_eq!((observation.to_text().as_str(), observation.is_error()), ("no", true));
    }
}
