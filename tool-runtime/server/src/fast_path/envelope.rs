//! The frame of a `tools/call`, read in one scan without rmcp's untagged enums.

use crate::double_option::double_option;
use rmcp::model::{CallToolRequestMethod, ConstString as _, JsonRpcVersion2_0, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// A message. With `result` or `error` it is not a request.
#[derive(Deserialize)]
#[serde(bound(deserialize = "P: Deserialize<'de>"))]
pub(crate) struct Envelope<'a, P> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    pub(crate) id: RequestId,
    #[serde(borrow)]
    method: Cow<'a, str>,
    pub(crate) params: P,
    #[serde(default, deserialize_with = "double_option")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "double_option")]
    error: Option<IgnoredAny>,
}

impl<'a, P: Deserialize<'a>> Envelope<'a, P> {
    /// The frame, if `text` is a well-formed `tools/call`.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let envelope: Self = serde_json::from_str(text).ok()?;
        let is_call = envelope.jsonrpc == JsonRpcVersion2_0::VALUE
            && envelope.method == CallToolRequestMethod::VALUE
            && envelope.result.is_none()
            && envelope.error.is_none();
        is_call.then_some(envelope)
    }
}
