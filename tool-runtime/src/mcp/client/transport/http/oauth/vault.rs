//! The host's store of tokens, as rmcp knows stores.

use super::aids::OAuthAids;
use crate::secret::Secret;
use crate::tool::BoxFuture;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};

/// The tokens of one server.
pub(super) struct Vault {
    pub(super) server: String,
    pub(super) aids: OAuthAids,
}

impl Vault {
    async fn save_all(&self, tokens: Option<Secret>) -> Result<(), AuthError> {
        let saved = self.aids.tokens().save(&self.server, tokens).await;
        saved.map_err(|error| AuthError::CredentialStoreError(error.to_string()))
    }

    async fn load_all(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let loaded = self.aids.tokens().load(&self.server).await;
        let loaded = loaded.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        // What cannot be read, of an older version say, is as good as nothing.
        Ok(loaded.and_then(|tokens| serde_json::from_str(tokens.expose()).ok()))
    }
}

// Written out, since the trait's macro is no dependency of ours.
impl CredentialStore for Vault {
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
            let text = serde_json::to_string(&credentials);
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
