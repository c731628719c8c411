//! The span of a call, with the field names of the
//! [GenAI conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/) of OpenTelemetry.

use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, excerpt};
use std::pin::Pin;
use tracing::Instrument as _;
use tracing::field::Empty;

/// The target of the spans of calls.
pub const CALL_SPANS: &str = "tool_runtime::call";

/// Runs a call in its span: lines of the log that the call writes have its fields. Without a subscriber that wants spans of
/// the target [`CALL_SPANS`], this costs a comparison.
pub(super) async fn within<T, F>(
    name: &str,
    context: &ToolContext,
    call: Pin<&mut F>,
) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    let ids = context.request_ids();
    let span = tracing::info_span!(
        target: CALL_SPANS,
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = &*excerpt(name),
        gen_ai.tool.call.id = context.call_id().map(|id| excerpt(id).into_owned()),
        mcp.session.id = ids.and_then(|ids| ids.session.as_deref()),
        user.id = context.known_principal().map(|principal| excerpt(principal.id()).into_owned()),
        trace_id = ids.and_then(|ids| ids.trace.as_deref()),
        error.type = Empty,
    );
    if span.is_disabled() {
        return call.await;
    }
    let outcome = call.instrument(span.clone()).await;
    if let Err(error) = &outcome {
        span.record("error.type", error.class().as_str());
    }
    outcome
}
