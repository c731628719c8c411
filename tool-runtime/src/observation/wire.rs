//! Observations as JSON through serde: MCP's `CallToolResult` in both directions.

use super::blocks::Blocks;
use super::{Extra, Observation};
use crate::content::ContentBlock;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

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
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

impl<'de> Deserialize<'de> for Observation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let structured = wire
            .structured_content
            .map(|value| serde_json::value::to_raw_value(&value))
            .transpose()
            .map_err(serde::de::Error::custom)?;
        Ok(Self {
            content: Blocks::Many(without_mirror(wire.content, structured.as_deref())),
            structured,
            is_error: wire.is_error,
            extra: wire.meta.map(|meta| Box::new(Extra { meta: Some(meta), visual: None })),
        })
    }
}

/// The text mirror is written for others; read back, it is no content of its own.
fn without_mirror(content: Vec<ContentBlock>, structured: Option<&RawValue>) -> Vec<ContentBlock> {
    let is_mirror = match (content.as_slice(), structured) {
        ([ContentBlock::Text(only)], Some(json)) => {
            only.extra.is_none() && only.text() == json.get()
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
            Observation::structured(&json!({"z": 1, "a": [true, null]})).unwrap(),
            Observation::structured(&json!({"z": 1}))
                .unwrap()
                .with_content(ContentBlock::text("one")),
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
