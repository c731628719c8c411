//! A collector of OpenTelemetry: decodes what it receives.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;

/// No signal takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What programs have sent, with the names of their services.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) spans: Vec<(String, Span)>,
    pub(crate) metrics: Vec<(String, Metric)>,
}

type Shared = Arc<(Mutex<Received>, Condvar)>;

pub(crate) struct Collector {
    address: SocketAddr,
    received: Shared,
    _runtime: Runtime,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let received = Shared::default();
        let routes = Router::new()
            .route("/v1/traces", post(traces))
            .route("/v1/metrics", post(metrics))
            .with_state(Arc::clone(&received));
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self { address, received, _runtime: runtime }
    }

    /// The variables that let a program send here, soon.
    pub(crate) fn variables(&self, service: &str) -> [(String, String); 3] {
        let endpoint = format!("http://{}", self.address);
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
            ("OTEL_SERVICE_NAME", service.to_owned()),
            ("OTEL_BSP_SCHEDULE_DELAY", "50".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
    }

    /// Waits until something was received.
    pub(crate) fn wait<T>(&self, find: impl Fn(&Received) -> Option<T>) -> T {
        let (received, arrived) = &*self.received;
        let mut received = received.lock().expect("no panic");
        loop {
            if let Some(found) = find(&received) {
                return found;
            }
            let (next, waited) = arrived.wait_timeout(received, LIMIT).expect("no panic");
            let names = next.spans.iter().map(|(service, span)| (service, &span.name));
            assert!(!waited.timed_out(), "received: {:#?}", names.collect::<Vec<_>>());
            received = next;
        }
    }
}

async fn traces(State(shared): State<Shared>, body: Bytes) -> &'static str {
    let request = ExportTraceServiceRequest::decode(body).expect("protobuf");
    let (received, arrived) = &*shared;
    let mut received = received.lock().expect("no panic");
    for of_service in request.resource_spans {
        let service = service(of_service.resource.as_ref());
        let spans = of_service.scope_spans.into_iter().flat_map(|scope| scope.spans);
        received.spans.extend(spans.map(|span| (service.clone(), span)));
    }
    arrived.notify_all();
    ""
}

async fn metrics(State(shared): State<Shared>, body: Bytes) -> &'static str {
    let request = ExportMetricsServiceRequest::decode(body).expect("protobuf");
    let (received, arrived) = &*shared;
    let mut received = received.lock().expect("no panic");
    for of_service in request.resource_metrics {
        let service = service(of_service.resource.as_ref());
        let metrics = of_service.scope_metrics.into_iter().flat_map(|scope| scope.metrics);
        received.metrics.extend(metrics.map(|metric| (service.clone(), metric)));
    }
    arrived.notify_all();
    ""
}

fn service(resource: Option<&Resource>) -> String {
    attribute(&resource.expect("a resource").attributes, "service.name").expect("a name")
}

/// An attribute as text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match &found.value {
        Some(AnyValue { value: Some(Value::StringValue(text)) }) => Some(text.clone()),
        Some(AnyValue { value: Some(Value::IntValue(number)) }) => Some(number.to_string()),
        _ => None,
    }
}
