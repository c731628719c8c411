//! OpenTelemetry of a program, as the variables `OTEL_*` of its environment ask for it.

use super::about::About;
use super::options::Command;
use std::sync::OnceLock;
use tool_runtime_otel::Telemetry;
use tracing::Subscriber;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The telemetry of the process, once it is started.
static TELEMETRY: OnceLock<Telemetry> = OnceLock::new();

/// Starts the telemetry of a command that serves or calls, before the log. `is_scraped`: its server has `/metrics`.
pub(super) fn start(about: &About, command: &Command, is_scraped: bool) {
    let calls = matches!(command, Command::Call(_) | Command::Prompt(_) | Command::Read(_));
    let telemetry = match is_scraped && command.is_server() {
        true => Telemetry::scraped(&about.name, &about.version),
        false if calls || command.is_server() => {
            Telemetry::from_environment(&about.name, &about.version)
        }
        false => return,
    };
    let _is_first = TELEMETRY.set(telemetry);
}

/// Logs where telemetry goes, and what the environment asks for in vain.
pub(super) fn log_start() {
    for destination in TELEMETRY.get().map(Telemetry::destinations).unwrap_or_default() {
        tracing::info!("OpenTelemetry: {destination}");
    }
    for problem in TELEMETRY.get().map(Telemetry::problems).unwrap_or_default() {
        tracing::warn!("OpenTelemetry: {problem}");
    }
}

/// The layer that takes spans. `None`: nothing is exported.
pub(super) fn layer<S>() -> Option<Box<dyn Layer<S> + Send + Sync>>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    Some(TELEMETRY.get()?.layer()?.boxed())
}

/// Whether the server has `/metrics`.
#[cfg(feature = "http")]
pub(super) fn is_scraped() -> bool {
    TELEMETRY.get().is_some_and(Telemetry::is_scraped)
}

/// The metrics for Prometheus.
#[cfg(feature = "http")]
pub(super) fn scrape() -> String {
    TELEMETRY.get().map(Telemetry::scrape).unwrap_or_default()
}

/// Exports what is left.
pub(super) async fn finish() {
    if let Some(telemetry) = TELEMETRY.get() {
        telemetry.clone().close().await;
    }
}
