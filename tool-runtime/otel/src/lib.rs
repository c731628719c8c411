//! OpenTelemetry for tool-runtime: the feature `otel` of `tool-runtime`.
//!
//! The other crates write spans of [`tracing`] with the names of the
//! [GenAI and MCP conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/). This crate exports them, derives the
//! metrics from them, and carries the trace to and from other processes.
//!
//! | Module | Topic |
//! |---|---|
//! | `environment` | the variables `OTEL_*` |
//! | `client` | requests to a collector |
//! | `measures` | metrics, from spans |
//! | `propagation` | traces that continue in other processes |

mod client;
mod environment;
mod measures;
mod propagation;

use client::Client;
use environment::{Endpoint, Environment};
use measures::Measures;
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus::{Registry, TextEncoder};
use propagation::SpanPropagator;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::task::spawn_blocking;
use tool_runtime_core::seam::{
    ACCESS, CALL_SPANS, DECISIONS, RELOADS, REQUEST_SPANS, STATE_SPANS, set_propagator,
};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The name of the instruments and of the tracer.
const SCOPE: &str = "tool-runtime";

/// The traces and metrics of a process.
///
/// They go to a collector by OTLP over HTTP, as the
/// [standard variables](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/) say. Without any of
/// these nothing is exported:
///
/// | Variable | Meaning |
/// |---|---|
/// | `OTEL_EXPORTER_OTLP_ENDPOINT` | the URL of the collector, for traces and metrics; with `_TRACES` or `_METRICS` before `_ENDPOINT` the whole URL of one of them |
/// | `OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER` | `otlp` exports to `http://localhost:4318` without an endpoint; `none` exports nothing |
/// | `OTEL_EXPORTER_OTLP_PROTOCOL` | `http/protobuf`, the default, is the only one |
/// | `OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION` | headers such as `authorization=Bearer%20..`; milliseconds for a request; `gzip` |
/// | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | the name of the program, and more about it |
/// | `OTEL_TRACES_SAMPLER` | which traces; by default those that the caller has not left out, with `always_on` all |
/// | `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_METRIC_EXPORT_INTERVAL` | how often, in milliseconds |
/// | `OTEL_SDK_DISABLED` | `true`: nothing is exported |
///
/// Exported are the spans of calls, requests, agents and questions, without arguments and results, and the spans that the
/// program itself makes at level INFO and above, with all of their fields. Lines of the log are not exported. Metrics:
///
/// | Metric | Meaning | Attributes |
/// |---|---|---|
/// | `mcp.server.operation.duration`, `mcp.client.operation.duration` | seconds until a request was answered | `mcp.method.name`, `gen_ai.tool.name`, `error.type`, `network.transport`; of a client also `tool_runtime.server` |
/// | `mcp.server.session.duration`, `mcp.client.session.duration` | seconds that a session lasted | `network.transport`; of a client also `tool_runtime.server` |
/// | `http.server.request.duration` | seconds until a request over HTTP was answered, or rejected | `http.request.method`, `http.response.status_code` |
/// | `tool_runtime.configuration.reloads` | configurations that were read again | `outcome`: `taken`, `rejected` |
/// | `tool_runtime.policy.decisions` | decisions about calls | `effect`, `rule` |
/// | `tool_runtime.questions.waiting` | questions that wait for a person | |
/// | `tool_runtime.servers.connected` | connections to external MCP servers: 1, or 0 for one that is not connected or was removed. Servers that were connected to before the layer existed are missing | `tool_runtime.server` |
///
/// ```no_run
/// use tool_runtime::otel::Telemetry;
/// use tracing_subscriber::prelude::*;
///
/// # async fn run() {
/// let telemetry = Telemetry::from_environment("billing-tools", env!("CARGO_PKG_VERSION"));
/// tracing_subscriber::registry().with(telemetry.layer()).init();
/// for problem in telemetry.problems() {
///     eprintln!("warning: {problem}");
/// }
/// // ..
/// telemetry.close().await;
/// # }
/// ```
///
/// A program of `main!`, `Program` or `Cli` does this itself.
#[derive(Clone)]
pub struct Telemetry(Arc<Exports>);

struct Exports {
    tracer: Option<SdkTracerProvider>,
    meter: Option<SdkMeterProvider>,
    scraped: Option<Registry>,
    problems: Vec<String>,
    destinations: Vec<String>,
}

impl Telemetry {
    /// The telemetry that the environment asks for, perhaps none. `service` and `version`: those of the program, unless the
    /// environment names it. What cannot be exported as the environment says is a [problem](Self::problems).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn from_environment(service: &str, version: &str) -> Self {
        Self::new(&Environment::of_process(None), service, version)
    }

    /// The telemetry that the environment asks for, with metrics for [`Self::scrape`] in any case.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn scraped(service: &str, version: &str) -> Self {
        Self::new(&Environment::of_process(Some(Registry::new())), service, version)
    }

    /// The telemetry that these variables ask for.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[doc(hidden)]
    pub fn from_variables(
        variables: impl IntoIterator<Item = (String, String)>,
        service: &str,
        version: &str,
    ) -> Self {
        Self::new(&Environment::new(variables, None), service, version)
    }

    fn new(environment: &Environment, service: &str, version: &str) -> Self {
        let resource = resource(environment, service, version);
        let traces = exporter(environment, "TRACES", span_exporter);
        let metrics = exporter(environment, "METRICS", metric_exporter);
        let mut problems = problems(traces.as_ref().err(), metrics.as_ref().err());
        for (signal, is_exported) in
            [("TRACES", matches!(traces, Ok(Some(_)))), ("METRICS", matches!(metrics, Ok(Some(_))))]
        {
            let ignored = if is_exported { environment.ignored(signal) } else { Vec::new() };
            problems.extend(ignored);
        }
        let (traces, metrics) = (traces.unwrap_or_default(), metrics.unwrap_or_default());
        let to = |what: &str, url: Option<&String>| Some(format!("{what} go to {}", url?));
        let destinations = [
            to("traces", traces.as_ref().map(|(_, url)| url)),
            to("metrics", metrics.as_ref().map(|(_, url)| url)),
        ];
        let scraped = environment.scraped.clone();
        let tracer = traces.map(|(exporter, _)| {
            let provider = SdkTracerProvider::builder().with_resource(resource.clone());
            provider.with_batch_exporter(exporter).build()
        });
        let meter = (metrics.is_some() || scraped.is_some())
            .then(|| meter(metrics.map(|(exporter, _)| exporter), scraped.as_ref(), resource));
        let destinations = destinations.into_iter().flatten().collect();
        Self(Arc::new(Exports { tracer, meter, scraped, problems, destinations }))
    }

    /// Why something is not exported that the environment asks for, and values of the environment that do not count.
    pub fn problems(&self) -> &[String] {
        &self.0.problems
    }

    /// Where traces and metrics go, as sentences for the log.
    pub fn destinations(&self) -> &[String] {
        &self.0.destinations
    }

    /// The layer that takes the spans of a subscriber. `None`: nothing is exported. Other layers, as one that writes lines, need
    /// [filters of their own](tracing_subscriber::layer#per-layer-filtering). From now on, requests carry the trace to other
    /// processes.
    pub fn layer<S>(&self) -> Option<impl Layer<S> + Send + Sync + use<S>>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let traces = self.0.tracer.as_ref().map(|provider| {
            tracing_opentelemetry::layer()
                .with_tracer(provider.tracer(SCOPE))
                .with_level(false)
                .with_location(false)
                .with_target(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::DEBUG))
                .boxed()
        });
        let measures = self.0.meter.as_ref().map(|provider| {
            Measures::new(&provider.meter(SCOPE))
                .with_filter(filter_fn(is_measured).with_max_level_hint(LevelFilter::DEBUG))
                .boxed()
        });
        // Not nested in options: one that is empty would hide the levels of the other.
        let layers: Vec<_> = traces.into_iter().chain(measures).collect();
        if layers.is_empty() {
            return None;
        }
        set_propagator(SpanPropagator::default());
        Some(layers)
    }

    /// Whether this was made by [`Self::scraped`].
    pub fn is_scraped(&self) -> bool {
        self.0.scraped.is_some()
    }

    /// The metrics in the [text format](https://prometheus.io/docs/instrumenting/exposition_formats/) of Prometheus. Empty,
    /// unless this was made by [`Self::scraped`].
    pub fn scrape(&self) -> String {
        let Some(registry) = &self.0.scraped else { return String::new() };
        TextEncoder::new().encode_to_string(&registry.gather()).unwrap_or_else(|error| {
            tracing::error!("the metrics cannot be written: {error}");
            String::new()
        })
    }

    /// Exports what is left, and ends. A collector that does not answer is waited for five seconds.
    pub async fn close(self) {
        // They wait for their threads.
        let exports = Arc::clone(&self.0);
        let traces =
            spawn_blocking(move || exports.tracer.as_ref().map(SdkTracerProvider::shutdown));
        let exports = self.0;
        let metrics =
            spawn_blocking(move || exports.meter.as_ref().map(SdkMeterProvider::shutdown));
        for closed in [traces.await, metrics.await] {
            if let Ok(Some(Err(problem))) = closed {
                tracing::warn!("the last spans or metrics were not exported: {problem}");
            }
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("has_traces", &self.0.tracer.is_some())
            .field("has_metrics", &self.0.meter.is_some())
            .field("is_scraped", &self.is_scraped())
            .field("problems", &self.0.problems)
            .finish()
    }
}

/// Whether a span or an event is measured.
fn is_measured(metadata: &Metadata<'_>) -> bool {
    let targets = [CALL_SPANS, REQUEST_SPANS, STATE_SPANS, DECISIONS, ACCESS, RELOADS];
    targets.contains(&metadata.target())
}

/// Whether a span belongs to traces. Sessions last longer than a trace, and rmcp has spans of connections.
fn is_traced(metadata: &Metadata<'_>) -> bool {
    if !metadata.is_span() {
        return false;
    }
    match metadata.target() {
        CALL_SPANS | REQUEST_SPANS => true,
        STATE_SPANS => metadata.name() == measures::APPROVAL,
        other => *metadata.level() <= Level::INFO && !other.starts_with("rmcp"),
    }
}

/// What sends spans and metrics.
fn resource(environment: &Environment, service: &str, version: &str) -> Resource {
    let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let instance = format!("{}-{:x}", std::process::id(), began.as_nanos());
    let own = [
        ("service.name", environment.service().unwrap_or(service).to_owned()),
        ("service.version", version.to_owned()),
        ("service.instance.id", instance),
    ];
    let own = own.into_iter().filter(|(name, _)| !environment.names(name));
    Resource::builder().with_attributes(own.map(|(name, value)| KeyValue::new(name, value))).build()
}

/// The exporter of a signal with the URL that the log shows. `None`: the environment asks for none.
///
/// # Errors
/// A value is not known, or the exporter cannot be made.
fn exporter<T>(
    environment: &Environment,
    signal: &str,
    make: fn(&Endpoint, Client) -> Result<T, ExporterBuildError>,
) -> Result<Option<(T, String)>, String> {
    let Some(endpoint) = environment.endpoint(signal)? else { return Ok(None) };
    let client = Client::new(&endpoint)?;
    let exporter = make(&endpoint, client).map_err(|error| error.to_string())?;
    Ok(Some((exporter, endpoint.redacted())))
}

fn span_exporter(endpoint: &Endpoint, client: Client) -> Result<SpanExporter, ExporterBuildError> {
    let builder = SpanExporter::builder().with_http().with_http_client(client);
    builder.with_endpoint(&endpoint.url).build()
}

fn metric_exporter(
    endpoint: &Endpoint,
    client: Client,
) -> Result<MetricExporter, ExporterBuildError> {
    let builder = MetricExporter::builder().with_http().with_http_client(client);
    builder.with_endpoint(&endpoint.url).build()
}

/// What is not exported, and why. A reason for both is said once.
fn problems(traces: Option<&String>, metrics: Option<&String>) -> Vec<String> {
    let lost = |(why, what): (&String, &str)| format!("{why}; {what} are not exported");
    match (traces, metrics) {
        (Some(traces), Some(metrics)) if traces == metrics => {
            vec![lost((traces, "traces and metrics"))]
        }
        _ => {
            let each = [traces.zip(Some("traces")), metrics.zip(Some("metrics"))];
            each.into_iter().flatten().map(lost).collect()
        }
    }
}

/// # Panics
/// Never: the registry is new.
fn meter(
    exporter: Option<MetricExporter>,
    scraped: Option<&Registry>,
    resource: Resource,
) -> SdkMeterProvider {
    let mut provider = SdkMeterProvider::builder().with_resource(resource);
    if let Some(exporter) = exporter {
        provider = provider.with_periodic_exporter(exporter);
    }
    if let Some(registry) = scraped {
        let reader = opentelemetry_prometheus::exporter().with_registry(registry.clone());
        provider = provider.with_reader(reader.build().expect("a new registry"));
    }
    provider.build()
}
