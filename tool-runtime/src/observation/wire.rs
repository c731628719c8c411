//! Observations as JSON through serde: MCP's `CallToolResult` in both directions.

use super::blocks::Blocks;
use super::{Extra, Observation};
use crate::content::ContentBlock;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::OnceLock;

impl Serialize for Observation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.structured_json() {
            Some(json) if self.content.is_empty() => {
                map.serialize_entry("content", &[ContentBlock::text(json)])?;
            }
            _ => map.serialize_entry("content", &*self.content)?,
        }
        if let Some(structured) = &self.structured {
            map.serialize_entry("structuredContent", structured)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        if let Some(meta) = self.meta() {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default)]
    content: Vec<ContentBlock>,
    /// As it stands: numbers may be larger than any type of ours.
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

impl<'de> Deserialize<'de> for Observation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let structured = wire.structured_content.map(on_one_line).transpose();
        let structured = structured.map_err(serde::de::Error::custom)?;
        Ok(Self {
            content: Blocks::Many(without_mirror(wire.content, structured.as_deref())),
            structured,
            parsed: OnceLock::new(),
            is_error: wire.is_error,
            extra: wire.meta.map(|meta| Box::new(Extra { meta: Some(meta), visual: None })),
        })
    }
}

/// It goes out in messages that end with their line. No line breaks inside of a JSON token.
fn on_one_line(json: Box<RawValue>) -> serde_json::Result<Box<RawValue>> {
    if !json.get().contains(['\n', '\r']) {
        return Ok(json);
    }
    RawValue::from_string(json.get().replace(['\n', '\r'], ""))
}

/// As we write a mirror, whatever blanks the value came with.
fn compact(json: &RawValue) -> String {
    serde_json::from_str(json.get()).map_or_else(|_| String::new(), |json: Value| json.to_string())
}

/// The text mirror is written for others; read back, it is no content of its own.
fn without_mirror(content: Vec<ContentBlock>, structured: Option<&RawValue>) -> Vec<ContentBlock> {
    let is_mirror = match (content.as_slice(), structured) {
        ([ContentBlock::Text(only)], Some(json)) => {
            only.extra.is_none() && (only.text() == json.get() || only.text() == compact(json))
        }
        _ => false,
    };
    if is_mirror { Vec::new() } else { content }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reading_back_loses_nothing() {
        let observations = [
            Observation::text("a"),
            Observation::error("b").with_meta("k", json!([1])),
            Observation::json(&json!({"z": 1, "a": [true, null]})).unwrap(),
            Observation::json(&json!({"z": 1})).unwrap().with_content(ContentBlock::text("one")),
            Observation::default(),
            Observation::from(ContentBlock::resource("a:b", "text"))
                .with_content(ContentBlock::audio("AA==", "audio/wav")),
        ];
        for observation in observations {
            let text = serde_json::to_string(&observation).unwrap();
            assert_eq!(text, observation.to_json());
            let back: Observation = serde_json::from_str(&text).unwrap();
            assert_eq!(back, observation, "{text}");
        }
    }
}
