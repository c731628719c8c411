//! What a request over HTTP brings for its handler.

use super::message::CallArguments;
use crate::principal::Principal;
use axum::http::request::Parts;
use std::sync::Arc;

/// Who is asking; `None` if nobody had to authenticate.
pub(in crate::mcp::server) fn principal(parts: &Parts) -> Option<Arc<Principal>> {
    parts.extensions.get().cloned()
}

/// The arguments of a call as JSON text, unless rmcp was to read them.
pub(in crate::mcp::server) fn arguments(parts: &Parts) -> Option<&str> {
    parts.extensions.get().map(CallArguments::text)
}
