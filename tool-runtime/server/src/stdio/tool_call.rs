//! The fast lane: `tools/call` without rmcp's untagged enums.
//!
//! rmcp tries 13 kinds of request before this one and clones the arguments each time it buffers
//! them. Here the line is scanned once; the arguments stay text until a tool decodes them.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputResponses, JsonRpcMessage,
    RequestMetaObject,
};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::arguments::RawArguments;
use crate::double_option::double_option;
use crate::fast_path::Envelope;

/// The fields of rmcp's [`CallToolRequestParams`], with the arguments left as text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
    name: String,
    #[serde(borrow, default, deserialize_with = "double_option")]
    arguments: Option<&'a RawValue>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

/// The request, if `text` is a well-formed `tools/call`; anything else is rmcp's to parse.
pub(super) fn parse(text: &str) -> Option<RxJsonRpcMessage<RoleServer>> {
    let Envelope { id, params, .. } = Envelope::<Params<'_>>::read(text)?;
    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(params.into_request()), id))
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
