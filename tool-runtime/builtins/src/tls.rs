//! Certificates for connections to the outside.

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::sync::Arc;

/// The certificates that this machine trusts. If it trusts none, only connections without TLS are possible.
pub(crate) fn config() -> Result<ClientConfig, rustls::Error> {
    let config = || {
        let provider = Arc::new(ring::default_provider());
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
    };
    let config = match config()?.with_platform_verifier() {
        Ok(trusting) => trusting,
        Err(_) => config()?.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}
