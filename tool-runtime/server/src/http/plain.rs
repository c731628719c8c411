//! HTTP requests that the fast path may answer.

use crate::arguments::RawArguments;
use crate::fast_path::{PlainCall, RawCall};
use crate::handler::PoolHandler;
use axum::body::Bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use rmcp::model::{CallToolRequestMethod, ConstString as _, ProtocolVersion};

/// Whether the client of a request without a session uses 2026-07-28; `None` if rmcp must answer the request.
pub(super) fn version(headers: &HeaderMap) -> Option<bool> {
    let is_plain = !headers.contains_key("mcp-session-id") && accepts_both(headers);
    is_stateless(headers).filter(|_| is_plain)
}

/// The plain call in a body, if it is one. Its arguments are inserted into the parts.
pub(super) fn call<'a>(
    parts: &mut Parts,
    body: &'a Bytes,
    is_stateless: bool,
    handler: &PoolHandler,
) -> Option<PlainCall<'a>> {
    let call =
        RawCall::read(std::str::from_utf8(body).ok()?)?.plain(is_stateless, &handler.metas)?;
    let name = &call.subject.name;
    let is_named = !is_stateless || has_call_headers(&parts.headers, name);
    if !is_named || handler.listing().is_mirrored(name) {
        return None;
    }
    if let Some(arguments) = call.arguments {
        parts.extensions.insert(RawArguments::within(body, arguments));
    }
    Some(call)
}

/// The session of a request, if the fast path may answer it.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    let id = only(headers, "mcp-session-id")?;
    (!is_stateless(headers)? && accepts_both(headers)).then_some(id)
}

/// Whether a client uses 2026-07-28; `None` for an unknown version.
fn is_stateless(headers: &HeaderMap) -> Option<bool> {
    if !headers.contains_key("mcp-protocol-version") {
        return Some(false);
    }
    let version = only(headers, "mcp-protocol-version")?;
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == version)?;
    Some(*known >= ProtocolVersion::V_2026_07_28)
}

/// Whether the headers repeat the method and the name, as those of 2026-07-28 must.
fn has_call_headers(headers: &HeaderMap, name: &str) -> bool {
    let is_encoded = name.starts_with("=?");
    only(headers, "mcp-method") == Some(CallToolRequestMethod::VALUE)
        && only(headers, "mcp-name").is_some_and(|given| given == name && !is_encoded)
}

/// Whether the client accepts JSON and event streams, without parameters.
fn accepts_both(headers: &HeaderMap) -> bool {
    let accepted = only(headers, header::ACCEPT.as_str()).filter(|text| !text.contains('"'));
    let is_listed = |kind: &str| {
        accepted.is_some_and(|accepted| accepted.split(',').any(|one| one.trim() == kind))
    };
    is_listed("application/json") && is_listed("text/event-stream")
}

/// The value of a header that occurs once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}
