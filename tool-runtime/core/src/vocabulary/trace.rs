//! Spans, and the traces of other processes that they continue. Spans are those of `tracing`; a subscriber that exports them
//! sets the [`Propagator`].

use crate::vocabulary::error::ErrorClass;
use crate::vocabulary::error::excerpt::excerpt;
use std::borrow::Cow;
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

/// The target of the lines about requests over HTTP.
pub const ACCESS: &str = "tool_runtime_server::access";

/// The target of the lines about a configuration that is read again. One that is not taken is an error.
pub const RELOADS: &str = "tool_runtime::reload";

/// Limit on the bytes of a `traceparent`: one of a later version may be longer than 55.
const MAX_PARENT: usize = 128;

/// Limit on the bytes of a `tracestate`. Its specification asks for at least 512, and has members of up to 513.
const MAX_STATE: usize = 8192;

/// Limit on the bytes of a baggage, by its specification.
const MAX_BAGGAGE: usize = 8192;

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
    /// The members that `member` gives by their names, as far as they are valid. `None` without a valid `traceparent`.
    fn from_members<'a>(member: impl Fn(&'static str) -> Option<Cow<'a, str>>) -> Option<Self> {
        let is_parent = |text: &Cow<'_, str>| is_traceparent(text);
        let valid = |name, is_valid: fn(&str) -> bool| {
            member(name).filter(|text| is_valid(text)).map(Cow::into_owned)
        };
        Some(Self {
            parent: member("traceparent").filter(is_parent)?.into_owned(),
            state: valid("tracestate", is_tracestate),
            baggage: valid("baggage", is_baggage),
        })
    }

    /// The members of a request: those of its metadata, or its headers if the metadata has none.
    pub fn of_request<'a>(
        meta: impl Fn(&'static str) -> Option<Cow<'a, str>>,
        header: impl Fn(&'static str) -> Option<Cow<'a, str>>,
    ) -> Option<Self> {
        match meta("traceparent") {
            Some(_) => Self::from_members(meta),
            None => Self::from_members(header),
        }
    }

    /// The members with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let rest = [("tracestate", &self.state), ("baggage", &self.baggage)];
        let rest = rest.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        std::iter::once(("traceparent", &*self.parent)).chain(rest)
    }
}

/// The id of the trace of a `traceparent`, which is `00-TRACE-SPAN-FLAGS`: 32 hexadecimal digits. `None`: it is not valid.
pub fn trace_id(traceparent: &str) -> Option<&str> {
    traceparent.split('-').nth(1).filter(|_| is_traceparent(traceparent))
}

/// Whether a `traceparent` is valid: two, 32, 16 and two hexadecimal digits; ids are not only zeros. Later versions may have
/// more parts.
fn is_traceparent(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_id = |part: &str| part.bytes().any(|byte| byte != b'0');
    let parts: Vec<&str> = text.splitn(6, '-').collect();
    match parts[..] {
        [version, trace, span, flags, ref more @ ..] => {
            [version, trace, span, flags]
                .iter()
                .zip([2, 32, 16, 2])
                .all(|(part, length)| part.len() == length && is_hex(part))
                && is_id(trace)
                && is_id(span)
                && version != "ff"
                && (version != "00" || more.is_empty())
                && text.len() <= MAX_PARENT
        }
        _ => false,
    }
}

/// Whether a `tracestate` can be passed on: printable ASCII, at most 32 members.
fn is_tracestate(text: &str) -> bool {
    text.len() <= MAX_STATE && is_printable(text) && text.split(',').count() <= 32
}

/// Whether all members of a baggage can be read.
fn is_baggage(text: &str) -> bool {
    let is_member = |member: &str| {
        let name = member.split(';').next().and_then(|pair| pair.split_once('='));
        name.is_some_and(|(name, _)| !name.trim().is_empty())
    };
    text.len() <= MAX_BAGGAGE && is_printable(text) && text.split(',').all(is_member)
}

/// ASCII, with tabs as white space.
fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
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

/// The name of a span by the conventions: its method or operation, and the tool or prompt.
pub fn span_name(method: &str, target: Option<&str>) -> String {
    match target {
        Some(target) => format!("{method} {}", excerpt(target)),
        None => method.to_owned(),
    }
}

/// The value of `error.type`: that of the conventions for a tool that failed, else the class.
pub fn error_type(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Tool => "tool_error",
        other => other.as_str(),
    }
}

/// Notes why the work of a span failed.
pub fn record_error(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "error");
}

/// Whether the code runs in a call, or in a request of a call.
pub fn is_in_call() -> bool {
    let target = Span::current().metadata().map(tracing::Metadata::target);
    target.is_some_and(|target| [CALL_SPANS, REQUEST_SPANS, STATE_SPANS].contains(&target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_from_its_header() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(trace_id(&format!("00-{trace}-00f067aa0ba902b7-01")), Some(trace));
        for invalid in [
            "00-x-y-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "garbage\nevil",
        ] {
            assert_eq!(trace_id(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn only_valid_members_are_passed_on() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let members = |state: &'static str, baggage: &'static str| {
            TraceMembers::from_members(move |name| {
                Some(Cow::Borrowed(match name {
                    "traceparent" => parent,
                    "tracestate" => state,
                    _ => baggage,
                }))
            })
            .expect("a trace")
        };
        let valid = members("a=1,b=2", "k=v;p,n=%20");
        assert_eq!(valid.state.as_deref(), Some("a=1,b=2"));
        assert_eq!(valid.baggage.as_deref(), Some("k=v;p,n=%20"));
        let invalid = members("a=b\r\nX: y", "k");
        assert_eq!(invalid, TraceMembers { parent: parent.to_owned(), ..TraceMembers::default() });
    }
}
