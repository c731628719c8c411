//! The spans of requests to servers, and of connections, with the field names of the
//! [MCP conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/) of OpenTelemetry.

use super::failure::Failure;
use super::verbatim;
use rmcp::model::{ClientRequest, CustomResult, RequestMetaObject, ServerResult};
use serde_json::Value;
use std::ops::RangeInclusive;
use tool_runtime_core::seam::{
    REQUEST_SPANS, STATE_SPANS, TraceMembers, excerpt, propagator, record_error, span_name,
};
use tracing::Span;
use tracing::field::Empty;

/// The codes that JSON-RPC reserves. A server could send any others, each a series of metrics.
const RESERVED: RangeInclusive<i32> = -32768..=-32000;

/// The span of a connection. `transport`: as the conventions name it.
pub(super) fn session(server: &str, transport: &'static str) -> Span {
    tracing::debug_span!(
        target: STATE_SPANS,
        parent: None,
        "mcp.client.session",
        tool_runtime.server = server,
        network.transport = transport,
    )
}

/// Says that a server is configured, so that one that never connects counts as not connected.
pub(super) fn configured(server: &str) {
    tracing::debug!(target: STATE_SPANS, { tool_runtime.server = server }, "a server is configured");
}

/// The span of a request.
pub(super) fn request(server: &str, transport: &'static str, request: &ClientRequest) -> Span {
    let (method, tool) = match request {
        ClientRequest::CallToolRequest(call) => ("tools/call", Some(&*call.params.name)),
        other => (other.method(), None),
    };
    let span = tracing::debug_span!(
        target: REQUEST_SPANS,
        "mcp.client.request",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = tool.map(|_| "execute_tool"),
        gen_ai.tool.name = tool.map(|name| excerpt(name).into_owned()),
        mcp.method.name = method,
        tool_runtime.server = server,
        network.transport = transport,
        error.type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", span_name(method, tool));
    }
    span
}

/// The metadata of a request with its span, if spans are exported; else that of the caller.
pub(super) fn carried(meta: Option<RequestMetaObject>, span: &Span) -> Option<RequestMetaObject> {
    let Some(trace) = propagator().and_then(|propagator| propagator.inject(span)) else {
        return meta;
    };
    let mut meta = meta.unwrap_or_default();
    set(&mut meta, &trace);
    Some(meta)
}

/// Sets the members of a trace, and removes others.
pub(super) fn set(meta: &mut RequestMetaObject, trace: &TraceMembers) {
    for member in ["traceparent", "tracestate", "baggage"] {
        meta.shift_remove(member);
    }
    for (name, value) in trace.named() {
        meta.insert(name.to_owned(), value.into());
    }
}

/// Notes how a request ended.
pub(super) fn end(span: &Span, answer: &Result<ServerResult, Failure>) {
    if let Some(kind) = error_type(answer) {
        record_error(span, &kind);
    }
}

/// The value of `error.type`: the JSON-RPC code, or `tool_error` for a tool that failed.
fn error_type(answer: &Result<ServerResult, Failure>) -> Option<String> {
    let kind = match answer {
        Ok(result) => return is_tool_error(result).then(|| "tool_error".to_owned()),
        Err(Failure::Rejected(error)) if RESERVED.contains(&error.code.0) => {
            return Some(error.code.0.to_string());
        }
        Err(Failure::Rejected(_)) => "rejected",
        Err(Failure::Silent(_) | Failure::Late) => "timeout",
        Err(Failure::Unauthorized(_)) => "unauthorized",
        Err(Failure::Unsent(_) | Failure::Lost(_)) => "connection_lost",
    };
    Some(kind.to_owned())
}

fn is_tool_error(result: &ServerResult) -> bool {
    match result {
        ServerResult::CallToolResult(result) => result.is_error == Some(true),
        ServerResult::CustomResult(CustomResult(value)) => {
            verbatim::inner(value).get("isError") == Some(&Value::Bool(true))
        }
        _ => false,
    }
}
