//! Parses a request body before rmcp.

use crate::arguments::RawArguments;
use crate::handler::PoolHandler;
use crate::rejection::{Rejection, diagnose, unusable_params};
use axum::body::Bytes;
use rmcp::model::{
    CallToolRequestMethod, ConstString as _, ErrorData, RequestId, SubscriptionsListenRequestMethod,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Limit on the values in a message for rmcp, which keeps some hundred bytes for each: a client sends
/// two.
const MAX_VALUES: usize = 50_000;

/// A body that is JSON.
pub(super) struct Message {
    pub(super) body: Bytes,
    /// Whether the message is a `subscriptions/listen`, which lasts until the client or the server ends it.
    pub(super) listens: bool,
    /// The method, unless the message is an answer.
    pub(super) method: Option<String>,
    /// The tool of a `tools/call`.
    pub(super) tool: Option<String>,
    /// The id, if it is valid.
    pub(super) id: Option<RequestId>,
    /// The span that the client has sent.
    pub(super) traceparent: Option<String>,
    pub(super) arguments: Option<RawArguments>,
}

/// The method and the arguments of a message.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Message {
    /// # Errors
    /// The answer to a body that is not JSON, or not one message.
    pub(super) fn read(body: Bytes, handler: &PoolHandler) -> Result<Self, Rejection> {
        let text = std::str::from_utf8(&body).map_err(|_| Rejection::not_utf8())?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(diagnose(text.trim_ascii_start()).unwrap_or_else(unusable));
        }
        let Ok(outline) = serde_json::from_str::<Outline<'_>>(text) else {
            // rmcp rejects a message of another shape.
            serde_json::from_str::<&RawValue>(text).map_err(|error| Rejection::not_json(&error))?;
            let (method, tool, id, traceparent) = (None, None, None, None);
            let arguments = None;
            return Self { body, listens: false, method, tool, id, traceparent, arguments }
                .check_size();
        };
        if let Some(rejection) = unusable_params(text) {
            return Err(rejection);
        }
        let listens = outline.method == SubscriptionsListenRequestMethod::VALUE;
        let (method, tool) = (outline.method.to_string(), outline.tool().map(str::to_owned));
        let (method, traceparent) = (Some(method), outline.traceparent());
        let id = outline.id.and_then(|id| serde_json::from_str(id.get()).ok());
        let message = match outline.arguments(handler) {
            Some(arguments) => {
                let arguments = RawArguments::within(&body, arguments);
                let body = without(&body, &arguments);
                let arguments = Some(arguments);
                Self { body, listens, method, tool, id, traceparent, arguments }
            }
            None => Self { body, listens, method, tool, id, traceparent, arguments: None },
        };
        message.check_size()
    }

    fn check_size(self) -> Result<Self, Rejection> {
        if self.body.len() > MAX_VALUES && values(&self.body) > MAX_VALUES {
            let text = format!("the message has more than {MAX_VALUES} values; send it in parts");
            return Err(Rejection::new(None, ErrorData::invalid_request(text, None)));
        }
        Ok(self)
    }
}

impl<'a> Outline<'a> {
    /// The arguments of a call, unless rmcp has to compare them with headers.
    fn arguments(&self, handler: &PoolHandler) -> Option<&'a RawValue> {
        let is_mirrored = handler.listing().is_mirrored(self.tool()?);
        self.params.as_ref()?.arguments.filter(|_| !is_mirrored)
    }

    /// The span that the client has sent.
    fn traceparent(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Sent {
            traceparent: Option<String>,
        }
        serde_json::from_str::<Sent>(self.params.as_ref()?.meta?.get()).ok()?.traceparent
    }

    /// The tool of a call.
    fn tool(&self) -> Option<&str> {
        let name = self.params.as_ref()?.name.as_deref()?;
        (self.method == CallToolRequestMethod::VALUE).then_some(name)
    }
}

/// Replaces the arguments by `{}`, so that rmcp need not parse them.
fn without(body: &Bytes, arguments: &RawArguments) -> Bytes {
    let range = arguments.range(body);
    [&body[..range.start], b"{}", &body[range.end..]].concat().into()
}

/// The answer to a message that rmcp rejects.
pub(super) fn invalid_message(body: &[u8]) -> Rejection {
    let text = std::str::from_utf8(body).unwrap_or_default();
    diagnose(text.trim_ascii_start()).unwrap_or_else(unusable)
}

fn unusable() -> Rejection {
    let text = "not a message of this protocol: its `params` do not fit its `method`";
    Rejection::new(None, ErrorData::invalid_request(text, None))
}

/// The number of values in JSON, at least: one more than the commas and brackets outside strings.
fn values(json: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, count) in [
            ("{}", 2),
            ("[1,2]", 3),
            (r#"{"a": [1, {"b": 2}]}"#, 5),
            (r#""[,,,{""#, 1),
            (r#"["\\", "a,\"[", 1]"#, 4),
        ] {
            assert_eq!(values(json.as_bytes()), count, "{json}");
        }
    }
}
