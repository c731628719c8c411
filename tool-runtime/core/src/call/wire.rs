//! Calls and results as JSON, in both directions: for logs, queues and transcripts.

use super::{ToolCall, ToolResult};
use crate::error::{CallError, ErrorClass};
use crate::issue::Issue;
use crate::observation::Observation;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// `arguments` is the text as it came, in a string: also what is not JSON survives.
#[derive(Serialize)]
struct CallOut<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallIn {
    #[serde(default)]
    call_id: String,
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CallOut { call_id: &self.call_id, name: &self.name, arguments: &self.arguments }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let call = CallIn::deserialize(deserializer)?;
        let raw = call.arguments.as_deref().map_or("", RawValue::get);
        // Model APIs give a string that holds JSON, or the object itself.
        let arguments = if raw.starts_with('"') {
            serde_json::from_str(raw).map_err(D::Error::custom)?
        } else {
            raw.to_owned()
        };
        Ok(Self { call_id: call.call_id, name: call.name, arguments })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultWire<'a> {
    #[serde(default, skip_serializing_if = "str::is_empty")]
    call_id: Cow<'a, str>,
    name: Cow<'a, str>,
    observation: Cow<'a, Observation>,
    /// Text for people alone, which MCP's form of an observation does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visual: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ErrorWire<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorWire<'a> {
    class: ErrorClass,
    message: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "<[Issue]>::is_empty")]
    issues: Cow<'a, [Issue]>,
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = self.error.as_ref().map(|error| ErrorWire {
            class: error.class(),
            message: error.message().into(),
            detail: error.detail().map(Into::into),
            issues: error.issues().into(),
        });
        let wire = ResultWire {
            call_id: (&*self.call_id).into(),
            name: (&*self.name).into(),
            observation: Cow::Borrowed(&self.observation),
            visual: self.observation.visual().map(Into::into),
            error,
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = ResultWire::deserialize(deserializer)?;
        let observation = wire.observation.into_owned();
        let error = wire.error.map(|error| {
            let issues = error.issues.into_owned();
            let read = CallError::new(error.class, error.message).with_issues(issues);
            match error.detail {
                Some(detail) => read.with_detail(detail),
                None => read,
            }
        });
        Ok(Self {
            call_id: wire.call_id.into_owned(),
            name: wire.name.into_owned(),
            observation: match wire.visual {
                Some(visual) => observation.with_visual(visual),
                None => observation,
            },
            error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    #[test]
    fn calls_read_back_as_they_were() {
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
    fn results_read_back_as_they_were() {
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
    fn unknown_kinds_are_refused_by_name() {
        let refusal = |json: &str| from_str::<ToolResult>(json).unwrap_err().to_string();
        // Content of a server may be of a kind that is not known here.
        let observation = r#"{"name":"a","observation":{"content":[{"type":"hologram"}]}}"#;
        assert!(from_str::<ToolResult>(observation).is_ok());
        let class =
            r#"{"name":"a","observation":{"content":[]},"error":{"class":"cosmic","message":""}}"#;
        assert!(refusal(class).contains("unknown variant `cosmic`"), "{}", refusal(class));
        let field = from_str::<ToolCall>(r#"{"name":"a","args":"{}"}"#).unwrap_err().to_string();
        assert!(field.contains("unknown field `args`"), "{field}");
    }
}
