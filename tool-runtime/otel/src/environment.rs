//! The variables of the environment that say what is exported, see the
//! [specification](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). The SDK reads the others.

use prometheus::Registry;
use std::collections::HashMap;
use std::time::Duration;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The default time limit of a request, by the specification of OTLP.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The values of `OTEL_TRACES_SAMPLER` that the SDK knows.
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const RATIO: &str = "OTEL_TRACES_SAMPLER_ARG";

/// The variables about traces that the SDK reads. Those after the first two are numbers.
const OF_TRACES: [&str; 6] = [
    SAMPLER,
    RATIO,
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
];

/// The variables about metrics that the SDK reads.
const OF_METRICS: [&str; 1] = ["OTEL_METRIC_EXPORT_INTERVAL"];

/// What is wanted of the telemetry: by the variables `OTEL_*`, and by the program.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    variables: HashMap<String, String>,
    /// Metrics for Prometheus.
    pub(crate) scraped: Option<Registry>,
}

/// Where a signal is sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) timeout: Duration,
}

impl Endpoint {
    /// The URL without a password and without a query, which may have a key.
    pub(crate) fn redacted(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else { return String::new() };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        format!("{scheme}://{host}{path}")
    }
}

impl Environment {
    pub(crate) fn of_process(scraped: Option<Registry>) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::new(variables, scraped)
    }

    /// An empty value counts as none.
    pub(crate) fn new(
        variables: impl IntoIterator<Item = (String, String)>,
        scraped: Option<Registry>,
    ) -> Self {
        let own = |(name, value): &(String, String)| name.starts_with("OTEL_") && !value.is_empty();
        Self { variables: variables.into_iter().filter(own).collect(), scraped }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim())
    }

    /// A variable of a signal, else of all, with its name.
    fn of_signal(&self, signal: &str, name: &str) -> Option<(String, &str)> {
        let own = format!("OTEL_EXPORTER_OTLP_{signal}_{name}");
        let names = [own, format!("OTEL_EXPORTER_OTLP_{name}")];
        names.into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    /// The name of the service.
    pub(crate) fn service(&self) -> Option<&str> {
        self.get("OTEL_SERVICE_NAME")
    }

    /// Whether `OTEL_RESOURCE_ATTRIBUTES` has an attribute.
    pub(crate) fn names(&self, attribute: &str) -> bool {
        let attributes = self.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        attributes
            .split(',')
            .any(|it| it.split('=').next().is_some_and(|it| it.trim() == attribute))
    }

    /// Where a signal, `TRACES` or `METRICS`, goes. `None`: nowhere.
    ///
    /// # Errors
    /// A value is not known here.
    pub(crate) fn endpoint(&self, signal: &str) -> Result<Option<Endpoint>, String> {
        if self.get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let exporter = format!("OTEL_{signal}_EXPORTER");
        let endpoint = self.of_signal(signal, "ENDPOINT");
        match self.get(&exporter) {
            Some("otlp") => {}
            Some("none") => return Ok(None),
            Some("prometheus") if self.scraped.is_some() => return Ok(None),
            Some(other) => {
                let hint = match other {
                    "prometheus" => "; `serve --metrics` serves metrics to Prometheus",
                    _ => "",
                };
                return Err(format!("`{exporter}={other}` is not `otlp` or `none`{hint}"));
            }
            None if endpoint.is_none() => return Ok(None),
            None => {}
        }
        if let Some((name, protocol)) = self.of_signal(signal, "PROTOCOL")
            && protocol != "http/protobuf"
        {
            return Err(format!(
                "`{name}={protocol}` is not supported; send to the port of `http/protobuf`, mostly 4318"
            ));
        }
        if let Some((name, url)) = endpoint
            && !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
        {
            // It may have a password.
            return Err(format!("`{name}` is not a URL such as `http://localhost:4318`"));
        }
        let timeout = match self.of_signal(signal, "TIMEOUT") {
            None => TIMEOUT,
            Some((name, given)) => given
                .parse()
                .map(Duration::from_millis)
                .map_err(|_| format!("`{name}={given}` is not a number of milliseconds"))?,
        };
        Ok(Some(Endpoint { url: self.url(signal), timeout }))
    }

    /// The values about a signal that the SDK would replace by its defaults without a word.
    pub(crate) fn ignored(&self, signal: &str) -> Vec<String> {
        let has_ratio = self.get(SAMPLER).is_some_and(|sampler| sampler.ends_with("ratio"));
        let is_valid = |name: &str, given: &str| match name {
            SAMPLER => SAMPLERS.contains(&given),
            RATIO => !has_ratio || given.parse().is_ok_and(|it| (0.0..=1.0).contains(&it)),
            _ => given.parse::<u64>().is_ok(),
        };
        let expected = |name: &str| match name {
            SAMPLER => format!("one of `{}`", SAMPLERS.join("`, `")),
            RATIO => "a number from 0 to 1".to_owned(),
            _ => "a number".to_owned(),
        };
        let names = if signal == "TRACES" { &OF_TRACES[..] } else { &OF_METRICS };
        let wrong = names.iter().filter_map(|name| {
            let given = self.get(name).filter(|given| !is_valid(name, given))?;
            Some(format!("`{name}={given}` is not {}, and does not count", expected(name)))
        });
        wrong.collect()
    }

    /// The URL of a signal. That of all signals lacks the path.
    fn url(&self, signal: &str) -> String {
        if let Some(url) = self.get(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")) {
            return url.to_owned();
        }
        let base = self.get(ENDPOINT).unwrap_or("http://localhost:4318").trim_end_matches('/');
        format!("{base}/v1/{}", signal.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment::new(variables.iter().map(owned), None)
    }

    #[test]
    fn nothing_is_exported_unless_a_variable_asks_for_it() {
        for variables in [
            &[][..],
            &[("OTEL_SERVICE_NAME", "a")],
            &[(ENDPOINT, "http://a:4318"), ("OTEL_SDK_DISABLED", "true")],
            &[(ENDPOINT, "http://a:4318"), ("OTEL_TRACES_EXPORTER", "none")],
            &[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://a:4318/m")],
        ] {
            assert_eq!(environment(variables).endpoint("TRACES"), Ok(None), "{variables:?}");
        }
    }

    #[test]
    fn a_signal_has_its_own_variables() {
        let environment = environment(&[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://a/v1/traces"),
            ("OTEL_METRICS_EXPORTER", "otlp"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "500"),
        ]);
        let url = "https://a/v1/traces".to_owned();
        let traces = Endpoint { url, timeout: TIMEOUT };
        assert_eq!(environment.endpoint("TRACES"), Ok(Some(traces)));
        let url = "http://localhost:4318/v1/metrics".to_owned();
        let metrics = Endpoint { url, timeout: Duration::from_millis(500) };
        assert_eq!(environment.endpoint("METRICS"), Ok(Some(metrics)));
    }

    #[test]
    fn the_log_shows_no_password() {
        for (url, shown) in [
            ("https://u:p@ss@host:1/v1?key=k", "https://host:1/v1"),
            ("https://host/v1?user=a@b", "https://host/v1"),
            ("http://host", "http://host"),
        ] {
            let endpoint = Endpoint { url: url.to_owned(), timeout: TIMEOUT };
            assert_eq!(endpoint.redacted(), shown);
        }
    }

    #[test]
    fn an_unknown_value_is_named() {
        for (name, value, expected) in [
            ("OTEL_METRICS_EXPORTER", "zipkin", "`OTEL_METRICS_EXPORTER=zipkin` is not `otlp`"),
            ("OTEL_METRICS_EXPORTER", "prometheus", "`serve --metrics`"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "port of `http/protobuf`"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "is not a number of milliseconds"),
            (
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
                "collector:4318",
                "METRICS_ENDPOINT` is not a URL",
            ),
        ] {
            let environment = environment(&[(ENDPOINT, "http://a:4318"), (name, value)]);
            let problem = environment.endpoint("METRICS").unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn a_value_that_the_sdk_ignores_is_named() {
        let environment = environment(&[
            (SAMPLER, "traceid_ratio"),
            (RATIO, "10%"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "10s"),
            ("OTEL_BSP_SCHEDULE_DELAY", "500"),
        ]);
        let names = environment.ignored("TRACES");
        assert!(
            names[0].starts_with("`OTEL_TRACES_SAMPLER=traceid_ratio` is not one of `always_on`")
        );
        assert_eq!(
            names[1..],
            ["`OTEL_TRACES_SAMPLER_ARG=10%` is not a number from 0 to 1, and does not count"]
        );
        assert_eq!(environment.ignored("METRICS").len(), 1);
    }

    #[test]
    fn prometheus_is_no_problem_where_it_reads_the_metrics() {
        let variables = [("OTEL_METRICS_EXPORTER".to_owned(), "prometheus".to_owned())];
        let environment = Environment::new(variables, Some(Registry::new()));
        assert_eq!(environment.endpoint("METRICS"), Ok(None));
    }

    #[test]
    fn attributes_of_the_environment_are_known() {
        let attributes = "service.version=2, deployment.environment.name=test";
        let environment = environment(&[("OTEL_RESOURCE_ATTRIBUTES", attributes)]);
        assert!(environment.names("service.version"));
        assert!(!environment.names("service.instance.id"));
    }
}
