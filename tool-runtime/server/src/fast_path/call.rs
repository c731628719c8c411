//! Reads a `tools/call` without rmcp, whose untagged enums buffer each request and clone its arguments.

use super::meta::{Meta, MetaCache};
use crate::arguments::RawArguments;
use crate::client::Subject;
use crate::double_option::double_option;
use crate::rounds::Round;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage,
    ClientRequest, ConstString as _, JsonRpcMessage, JsonRpcVersion2_0, RequestId,
    RequestMetaObject,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// Limit on the bytes of a plain call without its arguments. These bytes are parsed into values, which take
/// much more memory.
const MAX_ENVELOPE: usize = 32 << 10;

/// A well-formed `tools/call`, read in one scan. The arguments stay text.
pub(crate) struct RawCall<'a> {
    id: RequestId,
    params: Params<'a>,
    length: usize,
}

/// The members of a request. A message with `result` or `error` is not a request.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
    #[serde(default, deserialize_with = "double_option")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "double_option")]
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "double_option")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    request_state: Option<String>,
}

/// A `tools/call` that is answered without rmcp.
pub(crate) struct PlainCall<'a> {
    pub(crate) id: RequestId,
    pub(crate) meta: Arc<Meta>,
    pub(crate) subject: Subject,
    pub(crate) round: Round,
    pub(crate) arguments: Option<&'a RawValue>,
}

impl<'a> RawCall<'a> {
    /// Parses `text`; `None` if it is not a well-formed `tools/call`.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        // serde's derived structs also deserialize from arrays.
        if !text.trim_ascii_start().starts_with('{') {
            return None;
        }
        let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
        let is_call = envelope.jsonrpc == JsonRpcVersion2_0::VALUE
            && envelope.method == CallToolRequestMethod::VALUE
            && envelope.result.is_none()
            && envelope.error.is_none();
        let Envelope { id, params, .. } = envelope;
        is_call.then_some(Self { id, params, length: text.len() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.params.name
    }

    /// The call for the fast path, or `None` if rmcp must handle it. `is_stateless` means 2026-07-28.
    pub(crate) fn plain(&self, is_stateless: bool, metas: &MetaCache) -> Option<PlainCall<'a>> {
        let Params { meta, name, arguments, input_responses, request_state } = &self.params;
        if self.length - arguments.map_or(0, |raw| raw.get().len()) > MAX_ENVELOPE {
            return None;
        }
        Some(PlainCall {
            meta: metas.read(*meta, is_stateless)?,
            round: Round { responses: parsed(*input_responses)?, state: request_state.clone() },
            id: self.id.clone(),
            subject: Subject {
                method: CallToolRequestMethod::VALUE,
                name: name.as_ref().to_owned(),
                arguments: None,
            },
            arguments: *arguments,
        })
    }

    /// The request as rmcp would parse it, with the arguments as an extension. `None` if a part of it
    /// is invalid.
    ///
    /// `_meta` goes into the extensions and not into the params: that is where the service loop
    /// looks for it when it fills `RequestContext::meta`.
    pub(crate) fn into_message(self) -> Option<ClientJsonRpcMessage> {
        let mut params = CallToolRequestParams::new(self.params.name.into_owned());
        params.input_responses = parsed(self.params.input_responses)?;
        params.request_state = self.params.request_state;
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.params.meta {
            request.extensions.insert(RequestMetaObject::deserialize(meta).ok()?);
        }
        if let Some(arguments) = self.params.arguments {
            request.extensions.insert(RawArguments::new(arguments));
        }
        Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id))
    }
}

/// The parsed value, or the default for an absent one. `None` if it is invalid.
fn parsed<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.map_or_else(|| Some(T::default()), |raw| T::deserialize(raw).ok())
}
