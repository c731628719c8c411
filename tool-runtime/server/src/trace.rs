//! The spans of requests other than calls, which `ToolPool` has spans for, and of sessions, with the field names of the
//! [MCP conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/) of OpenTelemetry.

use super::handler::PoolHandler;
use super::request::{McpResult, Request, RequestContext};
use std::borrow::Cow;
use tool_runtime_core::seam::{
    REQUEST_SPANS, STATE_SPANS, TraceMembers, excerpt, propagator, record_error, span_name,
};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// The span that the client has sent: in the metadata, else as headers.
fn sent(request: &dyn Request) -> Option<TraceMembers> {
    let meta = request.meta();
    let member = |name| meta.get(name)?.as_str().map(Cow::Borrowed);
    TraceMembers::of_request(member, |name| request.header(name).map(Cow::Borrowed))
}

/// The span of a session.
pub(super) fn session(transport: &'static str) -> Span {
    tracing::debug_span!(
        target: STATE_SPANS,
        parent: None,
        "mcp.server.session",
        network.transport = transport,
    )
}

impl PoolHandler {
    /// The span of a request. `prompt`: its name.
    pub(super) fn span(
        &self,
        method: &'static str,
        prompt: Option<&str>,
        request: &RequestContext,
    ) -> Span {
        let span = tracing::debug_span!(
            target: REQUEST_SPANS,
            "mcp.server.request",
            otel.name = Empty,
            otel.kind = "server",
            otel.status_code = Empty,
            jsonrpc.request.id = &*excerpt(&request.id.to_string()),
            mcp.method.name = method,
            mcp.session.id = request.header("mcp-session-id"),
            gen_ai.prompt.name = prompt.map(|name| excerpt(name).into_owned()),
            network.transport = self.transport,
            error.type = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        span.record("otel.name", span_name(method, prompt));
        if let (Some(propagator), Some(sent)) = (propagator(), sent(request)) {
            propagator.extract(&span, &sent);
        }
        span
    }
}

/// Answers a request in its span.
pub(super) async fn in_span<T>(
    span: Span,
    answer: impl Future<Output = McpResult<T>>,
) -> McpResult<T> {
    if span.is_disabled() {
        return answer.await;
    }
    let answered = answer.instrument(span.clone()).await;
    if let Err(error) = &answered {
        record_error(&span, &error.code.0.to_string());
    }
    answered
}
