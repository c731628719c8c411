//! Traces that continue in other processes: W3C Trace Context and Baggage.

use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use std::collections::HashMap;
use tool_runtime_core::seam::{Propagator, TraceMembers};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

#[derive(Default)]
pub(crate) struct SpanPropagator {
    trace: TraceContextPropagator,
    baggage: BaggagePropagator,
}

impl Propagator for SpanPropagator {
    fn extract(&self, span: &Span, sent: &TraceMembers) {
        let carrier: HashMap<String, String> =
            sent.named().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let context = self.trace.extract_with_context(&Context::new(), &carrier);
        if context.span().span_context().is_valid() {
            let context = self.baggage.extract_with_context(&context, &carrier);
            // It fails for a span that is not exported, or has started.
            drop(span.set_parent(context));
        }
    }

    fn inject(&self, span: &Span) -> Option<TraceMembers> {
        let context = span.context();
        if !context.span().span_context().is_valid() {
            return None;
        }
        let mut carrier = HashMap::new();
        self.trace.inject_context(&context, &mut carrier);
        self.baggage.inject_context(&context, &mut carrier);
        let mut take = |name: &str| carrier.remove(name).filter(|value| !value.is_empty());
        Some(TraceMembers {
            parent: take("traceparent")?,
            state: take("tracestate"),
            baggage: take("baggage"),
        })
    }
}
