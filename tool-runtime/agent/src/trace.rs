//! The spans of an agent, with the field names of the
//! [GenAI conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/) of OpenTelemetry.

use crate::event::StopReason;
use crate::model::ModelError;
use serde_json::Value;
use tool_runtime::__seam::{REQUEST_SPANS, TraceMembers, propagator, record_error};
use tool_runtime::export::{Export, FinishReason};
use tool_runtime::tool::Usage;
use tracing::Span;
use tracing::field::Empty;

/// The span of the work on one message of the user. `agent`: the id of a sub-agent. `caller`: the span that started it, which
/// is its parent in a task of its own.
pub(crate) fn task(agent: Option<&str>, caller: Option<&TraceMembers>) -> Span {
    let is_apart = Span::current().is_none();
    let span = tracing::debug_span!(
        target: REQUEST_SPANS,
        "invoke_agent",
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.id = agent,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty,
    );
    if is_apart && let (Some(propagator), Some(caller)) = (propagator(), caller) {
        propagator.extract(&span, caller);
    }
    span
}

/// Notes why a task ended. The tokens: before it, and with it.
pub(crate) fn end_task(span: &Span, (before, usage): (Usage, Usage), reason: &StopReason) {
    span.record("gen_ai.usage.input_tokens", usage.input - before.input);
    span.record("gen_ai.usage.output_tokens", usage.output - before.output);
    let kind = match reason {
        StopReason::Done => return,
        StopReason::MaxTurns(_) => "max_turns",
        StopReason::Cut(_) => "cut",
        StopReason::Cancelled => "cancelled",
        StopReason::Model(_) => "model",
        StopReason::Answer(_) => "answer",
        #[cfg(feature = "mcp-client")]
        StopReason::Servers(_) => "servers",
    };
    record_error(span, kind);
}

/// The span of a request to the model. `format`: the key of its API.
pub(crate) fn chat(format: &str) -> Span {
    let provider = match format.split([' ', '-', '_']).next() {
        Some("gemini") => "gcp.gemini",
        Some(api) => api,
        None => format,
    };
    tracing::debug_span!(
        target: REQUEST_SPANS,
        "chat",
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty,
    )
}

/// Notes what the model answered.
pub(crate) fn end_chat(span: &Span, answer: &Result<Value, ModelError>, tools: &Export) {
    if span.is_disabled() {
        return;
    }
    let Ok(answer) = answer else {
        return record_error(span, "model");
    };
    let model = ["model", "modelVersion"].iter().find_map(|key| answer.get(key)?.as_str());
    if let Some(model) = model {
        span.record("gen_ai.response.model", model);
    }
    let usage = tools.usage(answer);
    span.record("gen_ai.usage.input_tokens", usage.input);
    span.record("gen_ai.usage.output_tokens", usage.output);
    span.record("gen_ai.response.finish_reasons", finish_reason(&tools.finish_reason(answer)));
}

fn finish_reason(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Paused(word)
        | FinishReason::TokenLimit(word)
        | FinishReason::Filtered(word)
        | FinishReason::MalformedCall(word)
        | FinishReason::Interrupted(word)
        | FinishReason::Other(word) => word,
        _ => "stop",
    }
}
