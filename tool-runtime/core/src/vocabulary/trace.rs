//! Spans, and the traces of other processes that they continue. Spans are those of `tracing`; a subscriber that exports them
//! sets the [`Propagator`].

use std::sync::OnceLock;
use tracing::Span;

/// The target of the spans of calls.
pub const CALL_SPANS: &str = "tool_runtime::call";

/// The target of the spans of requests to and from other processes, and of the steps of an agent.
pub const REQUEST_SPANS: &str = "tool_runtime::request";

/// The target of the spans of states that last: sessions, questions that wait for a person.
pub const STATE_SPANS: &str = "tool_runtime::state";

/// The target of the events of decisions of policies.
pub const DECISIONS: &str = "tool_runtime::decision";

/// The members of a request's metadata, or the headers of HTTP, that carry a trace:
/// [Trace Context](https://www.w3.org/TR/trace-context/) and [Baggage](https://www.w3.org/TR/baggage/) of W3C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceMembers {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate`.
    pub state: Option<String>,
    /// `baggage`.
    pub baggage: Option<String>,
}

impl TraceMembers {
    /// The members with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let rest = [("tracestate", &self.state), ("baggage", &self.baggage)];
        let rest = rest.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        std::iter::once(("traceparent", &*self.parent)).chain(rest)
    }
}

/// The id of the trace of a `traceparent`, which is `00-TRACE-SPAN-FLAGS`: 32 hexadecimal digits.
pub fn trace_id(traceparent: &str) -> Option<&str> {
    let trace = traceparent.split('-').nth(1)?;
    let is_id = trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(trace)
}

/// Connects spans to those of other processes.
pub trait Propagator: Send + Sync {
    /// Makes a span, which has not started, a child of the span that a peer has sent.
    fn extract(&self, span: &Span, sent: &TraceMembers);

    /// The members that carry a span to a peer. `None`: nothing exports it.
    fn inject(&self, span: &Span) -> Option<TraceMembers>;
}

static PROPAGATOR: OnceLock<Box<dyn Propagator>> = OnceLock::new();

/// Sets the propagator of the process. The first one stays.
pub fn set_propagator(propagator: impl Propagator + 'static) {
    let _is_first = PROPAGATOR.set(Box::new(propagator));
}

/// The propagator of the process, if spans are exported.
pub fn propagator() -> Option<&'static dyn Propagator> {
    PROPAGATOR.get().map(|propagator| &**propagator)
}

/// The members that carry the current span to a peer. `None`: nothing exports it.
pub fn current_trace() -> Option<TraceMembers> {
    propagator()?.inject(&Span::current())
}

/// Whether the code runs in a call, or in a request of a call.
pub fn is_in_call() -> bool {
    let target = Span::current().metadata().map(tracing::Metadata::target);
    target.is_some_and(|target| [CALL_SPANS, REQUEST_SPANS, STATE_SPANS].contains(&target))
}

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn a_trace_is_read_from_its_header() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(trace_id(&format!("00-{trace}-00f067aa0ba902b7-01")), Some(trace));
        assert_eq!(trace_id("00-x-y-01"), None);
    }
}
