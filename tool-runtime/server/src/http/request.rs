//! Data of an HTTP request for the handler.

use super::message::CallArguments;
use axum::http::request::Parts;
use std::sync::Arc;
use tool_runtime_core::Principal;

/// Who is asking; `None` if nobody had to authenticate.
pub(crate) fn principal(parts: &Parts) -> Option<Arc<Principal>> {
    parts.extensions.get().cloned()
}

/// The arguments of a call as JSON text, unless rmcp was to read them.
pub(crate) fn arguments(parts: &Parts) -> Option<&str> {
    parts.extensions.get().map(CallArguments::text)
}
