//! The span of a call, with the field names of the
//! [GenAI conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/) of OpenTelemetry.

use crate::pool::PooledTool;
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, ErrorClass, excerpt};
use crate::vocabulary::trace::{
    CALL_SPANS, Propagator, error_type, is_in_call, propagator, span_name, trace_id,
};
use std::pin::Pin;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// The span of a call. Without a subscriber that wants spans of the target [`CALL_SPANS`], this costs a comparison. A name
/// that a caller made up is another field than that of a tool: it must not become a series of metrics.
pub(super) fn of_call(
    name: &str,
    found: &Result<PooledTool, CallError>,
    context: &ToolContext,
) -> Span {
    let tool = || found.as_ref().ok().map(|found| found.tool().name());
    let span = tracing::info_span!(
        target: CALL_SPANS,
        "execute_tool",
        otel.name = Empty,
        otel.kind = Empty,
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool(),
        tool_runtime.unknown_tool = found.is_err().then(|| excerpt(name).into_owned()),
        gen_ai.tool.call.id = context.call_id().map(|id| excerpt(id).into_owned()),
        jsonrpc.request.id = Empty,
        mcp.method.name = Empty,
        mcp.session.id = context.header("mcp-session-id").map(|id| excerpt(&id).into_owned()),
        network.transport = Empty,
        user.id = context.known_principal().map(|principal| excerpt(principal.id()).into_owned()),
        trace_id = Empty,
        error.type = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    match propagator() {
        Some(propagator) => connect(propagator, &span, tool(), context),
        None => {
            if let Some(sent) = context.sent_trace() {
                span.record("trace_id", trace_id(&sent.parent));
            }
        }
    }
    span
}

/// Runs a call in its span: lines of the log that the call writes have its fields. A call that is dropped was cancelled.
pub(super) async fn within<T, F>(span: Span, call: Pin<&mut F>) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    if span.is_disabled() {
        return call.await;
    }
    let mut ending = Ending { span, error: Some(ErrorClass::Cancelled.as_str()) };
    let outcome = call.instrument(ending.span.clone()).await;
    ending.error = outcome.as_ref().err().map(|error| error_type(error.class()));
    outcome
}

/// Notes the error of a call when it ends.
struct Ending {
    span: Span,
    error: Option<&'static str>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let Some(error) = self.error else { return };
        self.span.record("error.type", error);
        if propagator().is_some() {
            self.span.record("otel.status_code", "error");
        }
    }
}

/// Makes the span of a call part of the trace of its caller.
#[cold]
fn connect(propagator: &dyn Propagator, span: &Span, tool: Option<&str>, context: &ToolContext) {
    // A call that a tool makes itself belongs to the span of that tool.
    let is_outer = !context.is_nested() && !is_in_call();
    match context.peer().and_then(|peer| peer.transport()).filter(|_| is_outer) {
        Some(transport) => tracing::record_all!(
            span,
            otel.name = span_name("tools/call", tool),
            otel.kind = "server",
            jsonrpc.request.id = context.call_id().map(|id| excerpt(id).into_owned()),
            mcp.method.name = "tools/call",
            network.transport = transport,
        ),
        None => {
            span.record("otel.name", span_name("execute_tool", tool));
        }
    }
    let sent = context.sent_trace();
    if let Some(sent) = sent.as_ref().filter(|_| is_outer) {
        propagator.extract(span, sent);
    }
    if let Some(trace) = propagator.inject(span).or(sent) {
        span.record("trace_id", trace_id(&trace.parent));
    }
}
