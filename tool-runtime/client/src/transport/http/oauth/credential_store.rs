//! The host's token store as rmcp's `CredentialStore`.

use super::host_callbacks::OAuthCallbacks;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde_json::Value;
use tool_runtime_core::vocabulary::{BoxFuture, Secret};

/// The member that contains the address, next to the credentials.
const RESOURCE: &str = "resource";
/// Seconds before the expiry at which rmcp refreshes tokens.
const EARLY: u64 = 30;

/// The tokens of one server.
pub(super) struct SavedCredentials {
    pub(super) server: String,
    /// The server's address, without secrets: another server may get its name later.
    pub(super) resource: String,
    pub(super) callbacks: OAuthCallbacks,
}

impl SavedCredentials {
    async fn save_all(&self, tokens: Option<Secret>) -> Result<(), AuthError> {
        let saved = self.callbacks.tokens().save(&self.server, tokens).await;
        saved.map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }

    async fn load_all(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let loaded = self.callbacks.tokens().load(&self.server).await;
        let loaded = loaded.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        // Unreadable credentials, for example of an older version, count as absent.
        Ok(loaded.and_then(|tokens| decode(tokens.expose(), &self.resource)))
    }
}

/// The stored text: the credentials and their address.
fn encode(credentials: &StoredCredentials, resource: &str) -> serde_json::Result<String> {
    let mut stored = serde_json::to_value(credentials)?;
    stored[RESOURCE] = resource.into();
    Ok(stored.to_string())
}

fn decode(stored: &str, resource: &str) -> Option<StoredCredentials> {
    let mut stored: Value = serde_json::from_str(stored).ok()?;
    if stored.get(RESOURCE)?.as_str()? != resource {
        return None;
    }
    relax(&mut stored);
    serde_json::from_value(stored).ok()
}

/// Extends the apparent lifetime of short-lived tokens. rmcp would refresh them for each request;
/// with the extension it refreshes them in the last tenth of their lifetime.
fn relax(stored: &mut Value) {
    let Some(expires) = stored.pointer_mut("/token_response/expires_in") else { return };
    if let Some(seconds) = expires.as_u64() {
        *expires = seconds.saturating_add(EARLY - EARLY.min(seconds / 10)).into();
    }
}

// Written out, since the crate with the trait's macro is not a dependency.
impl CredentialStore for SavedCredentials {
    fn load<'a, 'async_trait>(
        &'a self,
    ) -> BoxFuture<'async_trait, Result<Option<StoredCredentials>, AuthError>>
    where
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.load_all())
    }

    fn save<'a, 'async_trait>(
        &'a self,
        credentials: StoredCredentials,
    ) -> BoxFuture<'async_trait, Result<(), AuthError>>
    where
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let text = encode(&credentials, &self.resource);
            let text = text.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
            self.save_all(Some(Secret::from(text))).await
        })
    }

    fn clear<'a, 'async_trait>(&'a self) -> BoxFuture<'async_trait, Result<(), AuthError>>
    where
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.save_all(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stored(expires: u64) -> String {
        let credentials = json!({
            "client_id": "c",
            "token_response": { "access_token": "t", "token_type": "bearer", "expires_in": expires },
            "granted_scopes": [],
            "token_received_at": 1,
            "issuer": "https://login.example",
        });
        let credentials = serde_json::from_value(credentials).unwrap();
        encode(&credentials, "https://far.example/mcp").unwrap()
    }

    #[test]
    fn tokens_are_bound_to_one_url() {
        let taken = decode(&stored(3600), "https://far.example/mcp").unwrap();
        assert_eq!(
            (&*taken.client_id, taken.issuer.as_deref()),
            ("c", Some("https://login.example"))
        );
        assert!(decode(&stored(3600), "https://other.example/mcp").is_none());
        assert!(decode(r#"{"client_id":"c","token_response":null}"#, "x").is_none());
        assert!(decode("garbage", "x").is_none());
    }

    #[test]
    fn short_token_lifetimes_are_extended() {
        for (expires, expected) in [(3600, 3600), (300, 300), (20, 48), (0, 30)] {
            let taken = decode(&stored(expires), "https://far.example/mcp").unwrap();
            let taken = serde_json::to_value(taken).unwrap();
            assert_eq!(taken["token_response"]["expires_in"], expected);
        }
    }
}
