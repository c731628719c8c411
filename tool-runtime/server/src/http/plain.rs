//! Calls without a session that are exactly what they should be, read without rmcp.
//!
//! Whatever is unusual about a request is rmcp's: it judges versions, headers and metadata, and
//! says what is wrong with them.

use super::message::CallArguments;
use crate::client::Subject;
use crate::envelope::Envelope;
use crate::handler::PoolHandler;
use crate::rounds::Round;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use rmcp::model::{
    CallToolRequestMethod, ConstString as _, ProtocolVersion, RequestId, RequestMetaObject,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How many bytes there may be around the arguments: they are read into values, which take much
/// more room.
const MAX_AROUND: usize = 32 << 10;

/// A call without a session, with nothing unusual about it.
pub(super) struct PlainCall {
    /// Whether its client is of 2026-07-28.
    pub(super) is_modern: bool,
    pub(super) id: RequestId,
    pub(super) meta: RequestMetaObject,
    pub(super) subject: Subject,
    pub(super) round: Round,
    pub(super) arguments: Option<CallArguments>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    request_state: Option<String>,
}

impl PlainCall {
    /// The call, if it is a plain one.
    pub(super) fn read(headers: &HeaderMap, body: &Bytes, handler: &PoolHandler) -> Option<Self> {
        let is_modern = is_modern(headers)?;
        let text = std::str::from_utf8(body).ok().filter(|_| accepts_both(headers))?;
        let Envelope { id, params, .. } = Envelope::<Params<'_>>::read(text)?;
        let around = text.len() - params.arguments.map_or(0, |raw| raw.get().len());
        let is_named = !is_modern || names(headers, &params.name);
        if around > MAX_AROUND || !is_named || handler.has_mirrored_arguments(&params.name) {
            return None;
        }
        let meta: RequestMetaObject = read_or_default(params.meta)?;
        is_complete(&meta, is_modern).then_some(())?;
        Some(Self {
            id,
            meta,
            is_modern,
            arguments: params.arguments.map(|raw| CallArguments::within(body, raw)),
            round: Round {
                responses: read_or_default(params.input_responses)?,
                state: params.request_state,
            },
            subject: Subject {
                method: CallToolRequestMethod::VALUE,
                name: params.name.into_owned(),
                arguments: None,
            },
        })
    }
}

fn read_or_default<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> Option<T> {
    match raw {
        Some(raw) => T::deserialize(raw).ok(),
        None => Some(T::default()),
    }
}

/// Whether a client without a session is of 2026-07-28; `None` for a version that is not known, and
/// in a session.
fn is_modern(headers: &HeaderMap) -> Option<bool> {
    if headers.contains_key("mcp-session-id") {
        return None;
    }
    if !headers.contains_key("mcp-protocol-version") {
        return Some(false);
    }
    let version = only(headers, "mcp-protocol-version")?;
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == version)?;
    Some(*known >= ProtocolVersion::V_2026_07_28)
}

/// Whether the headers repeat the method and the name, as those of 2026-07-28 must.
fn names(headers: &HeaderMap, name: &str) -> bool {
    let is_encoded = name.starts_with("=?");
    only(headers, "mcp-method") == Some(CallToolRequestMethod::VALUE)
        && only(headers, "mcp-name").is_some_and(|given| given == name && !is_encoded)
}

/// Whether the metadata is what its era has: all that 2026-07-28 requires, or nothing of it.
fn is_complete(meta: &RequestMetaObject, is_modern: bool) -> bool {
    let version = meta.protocol_version();
    if !is_modern {
        return version.is_none();
    }
    version == Some(ProtocolVersion::V_2026_07_28)
        && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
}

/// Whether JSON and streams are asked for, without conditions.
fn accepts_both(headers: &HeaderMap) -> bool {
    let accepted = only(headers, header::ACCEPT.as_str()).filter(|text| !text.contains('"'));
    let is_listed = |kind: &str| {
        accepted.is_some_and(|accepted| accepted.split(',').any(|one| one.trim() == kind))
    };
    is_listed("application/json") && is_listed("text/event-stream")
}

/// The value of a header that is there once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}
