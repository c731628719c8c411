//! The fast lane: `tools/call` without rmcp's untagged enums.
//!
//! rmcp tries 13 kinds of request before this one and clones the arguments each time it buffers
//! them. Here the line is scanned once; the arguments stay text until a tool decodes them.

use std::borrow::Cow;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, ConstString,
    InputResponses, JsonRpcMessage, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::present::present;

/// The arguments of a `tools/call` exactly as the peer wrote them.
///
/// Travels in the request's extensions, since rmcp's own field holds nothing but objects:
/// arguments that are a list, a text or `null` reach the dispatcher too, which answers them
/// with a tool result. Absent when the peer sent no `arguments`.
#[derive(Debug, Clone)]
pub(crate) struct RawArguments(pub(crate) Box<RawValue>);

/// The line. `result` and `error` are there because a message with one of them is no request.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// The fields of rmcp's [`CallToolRequestParams`], with the arguments left as text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
    name: String,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

/// The request, if `text` is a well-formed `tools/call`; anything else is rmcp's to parse.
pub(super) fn parse(text: &str) -> Option<RxJsonRpcMessage<RoleServer>> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let is_call = envelope.jsonrpc == JsonRpcVersion2_0::VALUE
        && envelope.method == CallToolRequestMethod::VALUE
        && envelope.result.is_none()
        && envelope.error.is_none();
    is_call.then(|| {
        let request = ClientRequest::CallToolRequest(envelope.params.into_request());
        JsonRpcMessage::request(request, envelope.id)
    })
}

impl Params<'_> {
    /// rmcp's request, as its own parser would build it but for the arguments.
    ///
    /// `_meta` goes into the extensions and not into the params: that is where the service loop
    /// looks for it when it fills `RequestContext::meta`.
    fn into_request(self) -> CallToolRequest {
        let mut params = CallToolRequestParams::new(self.name);
        params.input_responses = self.input_responses;
        params.request_state = self.request_state;
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.meta {
            request.extensions.insert(meta);
        }
        if let Some(arguments) = self.arguments {
            request.extensions.insert(RawArguments(arguments.to_owned()));
        }
        request
    }
}
