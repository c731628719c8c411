//! The authorization server that receives the secret of a client. It must not change.

use rmcp::transport::auth::AuthorizationMetadata;
use std::sync::Mutex;
use tool_runtime_config::McpOAuth;
use tool_runtime_core::seam::lock;

/// The allowed issuer of one server's tokens.
pub(super) struct Issuer {
    expected: Option<String>,
    /// Whether only the first issuer is allowed.
    is_pinned: bool,
    first: Mutex<Option<String>>,
}

impl Issuer {
    pub(super) fn new(config: &McpOAuth) -> Self {
        Self {
            expected: config.issuer.clone(),
            is_pinned: config.client_secret.is_some(),
            first: Mutex::default(),
        }
    }

    /// Restores the issuer of an earlier run.
    pub(super) fn remember(&self, issuer: Option<String>) {
        *lock(&self.first) = issuer;
    }

    /// Whether this authorization server may be used.
    ///
    /// # Errors
    /// The issuer is not the expected one.
    pub(super) fn check(&self, metadata: &AuthorizationMetadata) -> Result<(), String> {
        let named = metadata.issuer.as_ref().unwrap_or(&metadata.token_endpoint);
        let is_same = |known: &str| named.trim_end_matches('/') == known.trim_end_matches('/');
        if let Some(expected) = &self.expected {
            return if is_same(expected) {
                Ok(())
            } else {
                Err(format!(
                    "its authorization server is `{named}`, which differs from `issuer`: no secret is sent to it"
                ))
            };
        }
        let mut first = lock(&self.first);
        if !self.is_pinned || is_same(first.get_or_insert_with(|| named.clone())) {
            return Ok(());
        }
        Err(format!(
            "its authorization server is `{named}`, which differs from the previous one: no secret is sent to it; to allow it, set `issuer`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata_of(issuer: &str) -> AuthorizationMetadata {
        let mut metadata = AuthorizationMetadata::default();
        metadata.issuer = Some(issuer.to_owned());
        metadata
    }

    #[test]
    fn a_secret_is_sent_to_one_issuer() {
        let mut config = McpOAuth::default();
        let any = Issuer::new(&config);
        assert!(any.check(&metadata_of("https://a.example")).is_ok());
        assert!(any.check(&metadata_of("https://b.example")).is_ok());
        config.client_secret = Some("8fQm2x".into());
        let issuer = Issuer::new(&config);
        assert!(issuer.check(&metadata_of("https://a.example")).is_ok());
        assert!(issuer.check(&metadata_of("https://b.example")).is_err());
        let restored = Issuer::new(&config);
        restored.remember(Some("https://b.example".to_owned()));
        assert!(restored.check(&metadata_of("https://a.example")).is_err());
        config.issuer = Some("https://b.example".to_owned());
        let named = Issuer::new(&config);
        assert!(named.check(&metadata_of("https://a.example")).is_err());
        assert!(named.check(&metadata_of("https://b.example/")).is_ok());
        assert!(named.check(&AuthorizationMetadata::default()).is_err());
    }
}
