//! Refusals that rmcp words, as JSON-RPC errors: it says some in plain text, and quotes all of what it
//! refuses.

use super::refusal::Refusal;
use crate::rejection::Rejection;
use axum::body::Bytes;
use axum::response::Response;
use http_body_util::BodyExt as _;
use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use tool_runtime_core::seam::excerpt_of;

/// Limit on the characters of a refusal.
const MAX_REFUSAL: usize = 1000;

/// rmcp's words for a request that has neither a session nor a version that needs none.
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

/// The refusal of a request, as JSON-RPC has it.
pub(super) async fn reworded(response: Response, request: &[u8]) -> Refusal {
    let (parts, body) = response.into_parts();
    let said = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let answer = serde_json::from_slice(&said).unwrap_or_else(|_| in_words(&said, request));
    let Answer { id, mut error } = answer;
    error.message = excerpt_of(&error.message, MAX_REFUSAL).into_owned().into();
    let misfit = match &id {
        Some(id) => Rejection::to(id, error),
        None => Rejection::new(None, error),
    };
    Refusal::from(misfit).with_status(parts.status)
}

fn in_words(said: &Bytes, request: &[u8]) -> Answer {
    let said = String::from_utf8_lossy(said);
    let text = match &*said {
        SESSION_REQUIRED => {
            "send `initialize` first, and its `Mcp-Session-Id` with what follows; a request of 2026-07-28 needs no session, but the header `MCP-Protocol-Version: 2026-07-28`"
        }
        said => said,
    };
    let id = serde_json::from_slice::<Request>(request).ok().map(|request| request.id);
    Answer { id, error: ErrorData::invalid_request(text.to_owned(), None) }
}
