//! What a request over HTTP brings for its handler.

use super::message::CallArguments;
use crate::principal::Principal;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::sync::Arc;

/// Method, path, headers and extensions of the HTTP request; `None` over other transports.
pub(in crate::mcp::server) fn parts(context: &RequestContext<RoleServer>) -> Option<&Parts> {
    context.extensions.get()
}

/// Who is asking; `None` if nobody had to authenticate.
pub(in crate::mcp::server) fn principal(
    context: &RequestContext<RoleServer>,
) -> Option<Arc<Principal>> {
    parts(context)?.extensions.get().cloned()
}

/// The arguments of a call as JSON text, unless rmcp was to read them.
pub(in crate::mcp::server) fn arguments(context: &RequestContext<RoleServer>) -> Option<&str> {
    parts(context)?.extensions.get().map(CallArguments::text)
}
