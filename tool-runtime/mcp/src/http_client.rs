//! The common part of all HTTP clients: TLS, the certificates of this machine, time limits.

use reqwest::{Client, ClientBuilder, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tool_runtime_core::seam::{is_loopback, with_causes};

/// Time limit of a TCP and TLS connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A client with the certificates of this machine, or without TLS.
///
/// # Errors
/// This machine trusts no certificate.
pub fn builder(has_tls: bool) -> Result<ClientBuilder, String> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(has_tls)?)
        .user_agent(concat!("tool-runtime/", env!("CARGO_PKG_VERSION")))
        .tcp_nodelay(true)
        .connect_timeout(CONNECT);
    Ok(builder)
}

/// Why a request failed, with all causes, and without its URL, which may have a secret.
pub fn reason(error: reqwest::Error) -> String {
    with_causes(&error.without_url())
}

/// Whether an address is a loopback address.
pub fn is_this_machine(url: &Url) -> bool {
    url.host_str().is_some_and(is_loopback)
}

/// The trusted certificates: those of this machine, read once; none without TLS.
fn tls(is_used: bool) -> Result<ClientConfig, String> {
    static TRUSTING: LazyLock<Result<ClientConfig, String>> = LazyLock::new(trusting);
    if is_used { TRUSTING.clone() } else { distrusting().map_err(|error| error.to_string()) }
}

fn trusting() -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.and_then(|builder| builder.with_platform_verifier());
    let builder = builder.map_err(|error| {
        format!("TLS is not available: {error}; install the package `ca-certificates`")
    })?;
    Ok(builder.with_no_client_auth())
}

fn distrusting() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_server_is_recognized() {
        for (url, expected) in [
            ("http://localhost:1/mcp", true),
            ("http://127.8.0.1/", true),
            ("http://[::1]:9/", true),
            ("https://example.com/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
