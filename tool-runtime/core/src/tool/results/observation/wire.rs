//! Observations as JSON through serde: MCP's `CallToolResult` in both directions.

use super::blocks::Blocks;
use super::{Extra, Observation, Status};
use crate::vocabulary::content::ContentBlock;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;
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
        if self.is_error() {
            map.serialize_entry("isError", &true)?;
        }
        if let Some(meta) = self.meta() {
            map.serialize_entry("_meta", meta)?;
        }
        for (key, value) in self.other().into_iter().flatten() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The members of a result. serde's derive cannot combine `flatten` with a raw value.
#[derive(Default)]
struct Wire {
    content: Vec<ContentBlock>,
    /// Raw: its numbers may exceed every Rust type.
    structured: Option<Box<RawValue>>,
    is_error: bool,
    meta: Option<Map<String, Value>>,
    other: Map<String, Value>,
}

impl<'de> Visitor<'de> for Wire {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the result of a call")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "content" => self.content = map.next_value()?,
                "structuredContent" => self.structured = map.next_value()?,
                "isError" => self.is_error = map.next_value()?,
                "_meta" => self.meta = map.next_value()?,
                // The kind of a result decides how it is read.
                "resultType" => drop(map.next_value::<IgnoredAny>()?),
                _ => drop(self.other.insert(key, map.next_value()?)),
            }
        }
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for Observation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wire { content, structured, is_error, meta, other } =
            deserializer.deserialize_map(Wire::default())?;
        let structured = structured.map(on_one_line).transpose();
        let structured = structured.map_err(serde::de::Error::custom)?;
        let content = Blocks::Many(without_mirror(content, structured.as_deref()));
        let extra = meta.map(|meta| Box::new(Extra { meta: Some(meta), ..Extra::default() }));
        let status = Status::new(is_error);
        Ok(Self { content, structured, parsed: OnceLock::new(), status, extra }.with_other(other))
    }
}

/// Raw JSON without line breaks, which end a message on stdio. JSON has none inside a token.
fn on_one_line(json: Box<RawValue>) -> serde_json::Result<Box<RawValue>> {
    if !json.get().contains(['\n', '\r']) {
        return Ok(json);
    }
    RawValue::from_string(json.get().replace(['\n', '\r'], ""))
}

/// The mirrored text of a value, without its whitespace.
fn compact(json: &RawValue) -> String {
    serde_json::from_str(json.get()).map_or_else(|_| String::new(), |json: Value| json.to_string())
}

/// The mirrored text is not separate content when it is read back.
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
    fn a_round_trip_loses_nothing() {
        let observations = [
            Observation::text("a"),
            Observation::error("b").with_meta("k", json!([1])),
            Observation::json(&json!({"z": 1, "a": [true, null]})).unwrap(),
            Observation::json(&json!({"z": 1})).unwrap().with_content(ContentBlock::text("one")),
            Observation::default(),
            Observation::from(ContentBlock::resource("a:b", "text"))
                .with_content(ContentBlock::audio("AA==", "audio/wav")),
            Observation::text("a")
                .with_other(Map::from_iter([("cost".to_owned(), json!({ "cents": 3 }))])),
        ];
        for observation in observations {
            let text = serde_json::to_string(&observation).unwrap();
            assert_eq!(text, observation.to_json());
            let back: Observation = serde_json::from_str(&text).unwrap();
            assert_eq!(back, observation, "{text}");
        }
    }

    #[test]
    fn unknown_members_and_kinds_are_kept() {
        let result = json!({
            "content": [
                { "type": "hologram", "depth": 3 },
                { "type": "text", "text": "a", "voice": "low" },
                { "type": "resource", "resource": { "uri": "a:b", "text": "c" }, "size": 1 },
                { "type": "text", "text": "b", "annotations": { "mood": "calm" } },
            ],
            "cost": { "cents": 3 },
        });
        let observation: Observation = serde_json::from_value(result.clone()).unwrap();
        assert_eq!(serde_json::to_value(&observation).unwrap(), result);
        assert_eq!(observation.to_json(), result.to_string());
        assert_eq!(observation.to_text(), "{\"type\":\"hologram\",\"depth\":3}\na\nc\nb");
        assert!(!observation.is_known());
    }
}
