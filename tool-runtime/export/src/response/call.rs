//! A call: its id, its name and its arguments.

use crate::api::Api;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use tool_runtime_core::seam::{MAX_WIRE_NAME, hashed};
use tool_runtime_core::tool::ToolCall;

/// The name of a call that has none, where the next request repeats it.
const UNNAMED: &str = "unnamed_tool";

/// Converts a call. A string contains the arguments as JSON; `null` means no arguments.
pub(super) fn call(id: String, name: &Value, arguments: &Value) -> ToolCall {
    let arguments = match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    ToolCall::new(name.as_str().unwrap_or_default(), arguments).with_call_id(id)
}

/// The id that an API gave to a call.
pub(super) fn given_id(id: &Value) -> Option<String> {
    match id {
        Value::Null => None,
        Value::String(id) => Some(id.clone()).filter(|id| !id.is_empty()),
        other => Some(other.to_string()),
    }
}

/// The ids of the calls of a response: those that the API gave, and made ones for calls without an id or with the id of
/// an earlier call. The same response gives the same ids.
pub(super) fn ids<'a>(response: &Value, given: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut known = HashSet::new();
    given
        .enumerate()
        .map(|(index, id)| {
            let id = given_id(id).filter(|id| !known.contains(id));
            let id = id.unwrap_or_else(|| made_id(response, index));
            known.insert(id.clone());
            id
        })
        .collect()
}

/// An id of nine letters and digits: Mistral accepts no others.
fn made_id(response: &Value, index: usize) -> String {
    let mut hasher = DefaultHasher::new();
    (response.to_string(), index).hash(&mut hasher);
    format!("{:09x}", hasher.finish() >> 28)
}

/// The arguments as requests take them: an object. Others become an empty one; the result of their call says what was
/// wrong with them.
pub(super) fn object(arguments: &Value) -> Map<String, Value> {
    match arguments {
        Value::Object(arguments) => arguments.clone(),
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        _ => Map::new(),
    }
}

/// The arguments as requests of OpenAI take them: the text of an object.
pub(super) fn object_text(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) if serde_json::from_str::<Map<String, Value>>(text).is_ok() => {
            arguments.clone()
        }
        other => json!(Value::Object(object(other)).to_string()),
    }
}

/// The name of a call as requests take it: a model may write a name that its API rejects in the next request.
pub(crate) fn request_name(api: Api, name: &str) -> Cow<'_, str> {
    let is_accepted = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-')
            || api == Api::Gemini && matches!(c, '.' | ':')
    };
    match name {
        "" => Cow::Borrowed(UNNAMED),
        _ if name.len() <= MAX_WIRE_NAME && name.chars().all(is_accepted) => Cow::Borrowed(name),
        _ => Cow::Owned(hashed(name, is_accepted)),
    }
}
