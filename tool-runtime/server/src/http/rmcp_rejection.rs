//! Converts rmcp's error responses to JSON-RPC errors. Some are plain text and quote input of any length.

use super::http_rejection::HttpRejection;
use crate::rejection::Rejection;
use axum::body::Bytes;
use axum::response::Response;
use http_body_util::BodyExt as _;
use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use tool_runtime_core::seam::excerpt_of;

/// Limit on the characters of a rejection.
const MAX_MESSAGE_CHARS: usize = 1000;

/// rmcp's text for a request of a stateful version without a session id.
const SESSION_REQUIRED: &str = "Bad Request: Session ID is required";

#[derive(Deserialize)]
struct Answer {
    id: Option<RequestId>,
    error: ErrorData,
}

#[derive(Deserialize)]
struct Request {
    id: RequestId,
}

/// rmcp's rejection of a request as a JSON-RPC error.
pub(super) async fn json_rpc_error(response: Response, request: &[u8]) -> HttpRejection {
    let (parts, body) = response.into_parts();
    let text = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let answer = serde_json::from_slice(&text).unwrap_or_else(|_| from_text(&text, request));
    let Answer { id, mut error } = answer;
    error.message = excerpt_of(&error.message, MAX_MESSAGE_CHARS).into_owned().into();
    let rejection = match &id {
        Some(id) => Rejection::to(id, error),
        None => Rejection::new(None, error),
    };
    HttpRejection::from(rejection).with_status(parts.status)
}

fn from_text(text: &Bytes, request: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(text);
    let text = match &*text {
        SESSION_REQUIRED => {
            "send `initialize` first, and its `Mcp-Session-Id` with every later request; or use version 2026-07-28 without a session, and send the header `MCP-Protocol-Version: 2026-07-28`"
        }
        other => other,
    };
    let id = serde_json::from_slice::<Request>(request).ok().map(|request| request.id);
    Answer { id, error: ErrorData::invalid_request(text.to_owned(), None) }
}
