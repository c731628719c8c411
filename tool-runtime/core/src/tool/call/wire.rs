//! Calls and results as JSON, in both directions: for logs, queues and transcripts.

use super::ToolResult;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::CallError;
use serde::de::{Deserializer, Error as _};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// Arguments as model APIs send them: a string that holds JSON, or the object itself.
pub(super) fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let raw = raw.as_deref().map_or("", RawValue::get);
    match raw.starts_with('"') {
        true => serde_json::from_str(raw).map_err(D::Error::custom),
        false => Ok(raw.to_owned()),
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.call_id.is_empty() {
            map.serialize_entry("call_id", &self.call_id)?;
        }
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("observation", &self.observation)?;
        if let Some(visual) = self.observation.visual() {
            map.serialize_entry("visual", visual)?;
        }
        if let Some(error) = &self.error {
            map.serialize_entry("error", error)?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default)]
    call_id: String,
    name: String,
    observation: Observation,
    /// Human-readable text, which MCP's form of an observation does not contain.
    #[serde(default)]
    visual: Option<String>,
    #[serde(default)]
    error: Option<CallError>,
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wire { call_id, name, observation, visual, error } = Wire::deserialize(deserializer)?;
        let observation = match visual {
            Some(visual) => observation.with_visual(visual),
            None => observation,
        };
        Ok(Self { call_id, name, observation, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::call::ToolCall;
    use crate::vocabulary::error::ErrorClass;
    use crate::vocabulary::error::Issue;
    use serde_json::{from_str, to_string};

    #[test]
    fn calls_survive_serialization() {
        for arguments in ["", "{}", r#"{"a": 1}"#, "no JSON at all", r#""a text""#] {
            let call = ToolCall::new("add", arguments).with_call_id("call_1");
            let text = to_string(&call).unwrap();
            assert_eq!(from_str::<ToolCall>(&text).unwrap(), call, "{text}");
        }
    }

    #[test]
    fn arguments_may_be_an_object() {
        let call: ToolCall = from_str(r#"{"name":"add","arguments":{"a": 1}}"#).unwrap();
        assert_eq!(call, ToolCall::new("add", r#"{"a": 1}"#));
    }

    #[test]
    fn results_survive_serialization() {
        let outcomes = [
            Ok(Observation::text("42").with_visual("forty-two").with_meta("a", 1)),
            Ok(Observation::error("no")),
            Err(CallError::new(ErrorClass::Input, "bad")
                .with_detail("why")
                .with_issues(vec![Issue::new("a", "type", "`a` must be a string")])),
        ];
        for outcome in outcomes {
            let result = ToolResult::new(ToolCall::new("add", "").with_call_id("call_1"), outcome);
            let text = to_string(&result).unwrap();
            let back: ToolResult = from_str(&text).unwrap();
            assert_eq!(to_string(&back).unwrap(), text);
            assert_eq!(back.observation().visualize(), result.observation().visualize());
            assert_eq!(back.observation(), result.observation());
        }
    }

    #[test]
    fn unknown_kinds_are_rejected_by_name() {
        let rejection = |json: &str| from_str::<ToolResult>(json).unwrap_err().to_string();
        // Content of a server may be of an unknown kind.
        let observation = r#"{"name":"a","observation":{"content":[{"type":"hologram"}]}}"#;
        assert!(from_str::<ToolResult>(observation).is_ok());
        let class =
            r#"{"name":"a","observation":{"content":[]},"error":{"class":"cosmic","message":""}}"#;
        assert!(rejection(class).contains("unknown variant `cosmic`"), "{}", rejection(class));
        let field = from_str::<ToolCall>(r#"{"name":"a","args":"{}"}"#).unwrap_err().to_string();
        assert!(field.contains("unknown field `args`"), "{field}");
    }
}
