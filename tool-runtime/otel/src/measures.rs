//! Metrics, from spans: how long they were open, and how many are. And from events, among them lines of the log.

use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};
use opentelemetry::{KeyValue, Value};
use std::fmt;
use std::time::Instant;
use tool_runtime_core::seam::{ACCESS, CALL_SPANS, DECISIONS, RELOADS, REQUEST_SPANS, STATE_SPANS};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The span of a question.
pub(crate) const APPROVAL: &str = "approval";

/// The bounds of durations, in seconds, as the conventions have them.
const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The methods of requests that are attributes of metrics.
const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// The fields of spans that are attributes of metrics.
const ATTRIBUTES: [&str; 8] = [
    "effect",
    "error.type",
    "gen_ai.prompt.name",
    "gen_ai.tool.name",
    "mcp.method.name",
    "network.transport",
    "rule",
    "tool_runtime.server",
];

pub(crate) struct Measures {
    server_operation: Histogram<f64>,
    client_operation: Histogram<f64>,
    server_session: Histogram<f64>,
    client_session: Histogram<f64>,
    responses: Histogram<f64>,
    reloads: Counter<u64>,
    decisions: Counter<u64>,
    questions: UpDownCounter<i64>,
    servers: UpDownCounter<i64>,
}

/// A kind of span that is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    ServerRequest,
    ClientRequest,
    ServerSession,
    ClientSession,
    Approval,
}

impl Kind {
    fn from_span(span: &Metadata<'_>) -> Option<Self> {
        Some(match (span.target(), span.name()) {
            (CALL_SPANS, _) => Self::Call,
            (REQUEST_SPANS, "mcp.server.request") => Self::ServerRequest,
            (REQUEST_SPANS, "mcp.client.request") => Self::ClientRequest,
            (STATE_SPANS, "mcp.server.session") => Self::ServerSession,
            (STATE_SPANS, "mcp.client.session") => Self::ClientSession,
            (STATE_SPANS, APPROVAL) => Self::Approval,
            _ => return None,
        })
    }
}

/// An open span.
struct Measured {
    kind: Kind,
    began: Instant,
    fields: Fields,
}

impl Measures {
    pub(crate) fn new(meter: &Meter) -> Self {
        let duration = |name: &'static str, description: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            histogram.with_description(description).with_boundaries(BOUNDS.to_vec()).build()
        };
        let waiting = meter.i64_up_down_counter("tool_runtime.questions.waiting");
        let connected = meter.i64_up_down_counter("tool_runtime.servers.connected");
        let reloads = meter.u64_counter("tool_runtime.configuration.reloads");
        let decisions = meter.u64_counter("tool_runtime.policy.decisions");
        Self {
            server_operation: duration(
                "mcp.server.operation.duration",
                "The time until a request of a client was answered",
            ),
            client_operation: duration(
                "mcp.client.operation.duration",
                "The time until a server answered a request",
            ),
            server_session: duration(
                "mcp.server.session.duration",
                "The time that a session of a client lasted",
            ),
            client_session: duration(
                "mcp.client.session.duration",
                "The time that a connection to a server lasted",
            ),
            responses: duration(
                "http.server.request.duration",
                "The time until a request over HTTP was answered",
            ),
            reloads: reloads.with_description("Configurations that were read again").build(),
            decisions: decisions.with_description("Decisions of policies about calls").build(),
            questions: waiting.with_description("Questions that wait for a person").build(),
            servers: connected.with_description("Connected MCP servers").build(),
        }
    }

    fn answered(&self, event: &Event<'_>) {
        let mut response = Response::default();
        event.record(&mut response);
        // Other lines about a request have no time.
        if let Some(milliseconds) = response.milliseconds {
            self.responses.record(milliseconds / 1000.0, &response.attributes());
        }
    }

    fn opened(&self, measured: &Measured) {
        match measured.kind {
            Kind::ClientSession => {
                self.servers.add(1, &measured.fields.only("tool_runtime.server"));
            }
            Kind::Approval => self.questions.add(1, &[]),
            _ => {}
        }
    }

    fn closed(&self, measured: Measured) {
        let Measured { kind, began, mut fields } = measured;
        let seconds = began.elapsed().as_secs_f64();
        match kind {
            Kind::Call if !fields.has("mcp.method.name") => {}
            Kind::Call | Kind::ServerRequest => {
                fields.forget_made_up_name();
                self.server_operation.record(seconds, &fields.0);
            }
            Kind::ClientRequest => self.client_operation.record(seconds, &fields.0),
            Kind::ServerSession => self.server_session.record(seconds, &fields.0),
            Kind::ClientSession => {
                self.servers.add(-1, &fields.only("tool_runtime.server"));
                self.client_session.record(seconds, &fields.0);
            }
            Kind::Approval => self.questions.add(-1, &[]),
        }
    }
}

impl<S> Layer<S> for Measures
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(kind) = Kind::from_span(attributes.metadata()) else { return };
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let measured = Measured { kind, began: Instant::now(), fields };
        self.opened(&measured);
        span.extensions_mut().insert(measured);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(measured) = span.extensions_mut().get_mut::<Measured>() {
            values.record(&mut measured.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let fields = || {
            let mut fields = Fields::default();
            event.record(&mut fields);
            fields
        };
        match event.metadata().target() {
            DECISIONS => self.decisions.add(1, &fields().0),
            // A server that is configured.
            STATE_SPANS => self.servers.add(0, &fields().only("tool_runtime.server")),
            ACCESS => self.answered(event),
            RELOADS => {
                let is_error = *event.metadata().level() == Level::ERROR;
                let outcome = if is_error { "rejected" } else { "taken" };
                self.reloads.add(1, &[KeyValue::new("outcome", outcome)]);
            }
            _ => {}
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let measured = span.extensions_mut().remove::<Measured>();
        if let Some(measured) = measured {
            self.closed(measured);
        }
    }
}

/// The fields that are attributes.
#[derive(Default)]
struct Fields(Vec<KeyValue>);

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        if ATTRIBUTES.contains(&field.name()) {
            self.0.push(KeyValue::new(field.name(), value));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|field| field.key.as_str() == name)
    }

    fn only(&self, name: &str) -> Vec<KeyValue> {
        self.0.iter().filter(|field| field.key.as_str() == name).cloned().collect()
    }

    /// Removes the name of a prompt that failed: a client may have made it up, and there would be as many series as names.
    fn forget_made_up_name(&mut self) {
        if self.has("error.type") {
            self.0.retain(|field| field.key.as_str() != "gen_ai.prompt.name");
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

/// A response over HTTP, as the line about its request has it.
#[derive(Default)]
struct Response {
    method: Option<&'static str>,
    status: Option<u64>,
    milliseconds: Option<f64>,
}

impl Response {
    fn attributes(&self) -> Vec<KeyValue> {
        let method = self.method.map(|method| KeyValue::new("http.request.method", method));
        let status = self.status.and_then(|status| i64::try_from(status).ok());
        let status = status.map(|status| KeyValue::new("http.response.status_code", status));
        method.into_iter().chain(status).collect()
    }
}

impl Visit for Response {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "status" {
            self.status = Some(value);
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "ms" {
            self.milliseconds = Some(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "method" {
            let method = format!("{value:?}");
            // Others are made up by clients.
            let known = METHODS.into_iter().find(|known| *known == method);
            self.method = Some(known.unwrap_or("_OTHER"));
        }
    }
}
