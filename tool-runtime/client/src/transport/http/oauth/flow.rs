//! Obtains tokens: by refresh, by client credentials, by authorization of the user.

use super::credential_store::SavedCredentials;
use super::error_text::error_text;
use super::host_callbacks::OAuthCallbacks;
use super::http_client::HttpClient;
use super::issuer::Issuer;
use super::redirect_listener::RedirectListener;
use super::token_secrets::TokenSecrets;
use crate::transport::http::credentials::{NoHeaders, RejectedRequest};
use crate::transport::http::header_values::without_secrets;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    ClientCredentialsConfig, CredentialStore as _, OAuthClientConfig, StoredCredentials,
    WWWAuthenticateParams,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Mutex as AsyncMutex, OnceCell};
use tokio::time::Instant;
use tool_runtime_config::McpOAuth;
use tool_runtime_core::seam::lock;

/// Default name of the client.
const CLIENT: &str = "tool-runtime";
/// Limit on scope upgrades before a call succeeds.
const MAX_SCOPE_UPGRADES: u32 = 3;

pub(super) type Manager = Arc<AuthorizationManager>;

/// Obtains the tokens of one server.
pub(super) struct Flow {
    pub(super) server: String,
    /// The server's address, without secrets.
    pub(super) url: Url,
    config: McpOAuth,
    pub(super) callbacks: OAuthCallbacks,
    pub(super) token_secrets: Arc<TokenSecrets>,
    issuer: Issuer,
    listener: OnceCell<RedirectListener>,
    /// Locked while a token is refreshed. Holds the last failure and its time.
    refresh_lock: AsyncMutex<Option<(Instant, NoHeaders)>>,
    /// Scopes that were requested because a server required more.
    requested_scopes: Mutex<BTreeSet<String>>,
    scope_upgrades: AtomicU32,
}

impl Flow {
    pub(super) fn new(
        server: &str,
        url: &Url,
        config: &McpOAuth,
        callbacks: &OAuthCallbacks,
    ) -> Self {
        Self {
            server: server.to_owned(),
            url: without_secrets(url),
            config: config.clone(),
            callbacks: callbacks.clone(),
            token_secrets: Arc::new(TokenSecrets::new(config)),
            issuer: Issuer::new(config),
            listener: OnceCell::new(),
            refresh_lock: AsyncMutex::default(),
            requested_scopes: Mutex::default(),
            scope_upgrades: AtomicU32::new(0),
        }
    }

    /// A manager with the tokens of an earlier run, if there are any.
    pub(super) async fn restored(&self) -> Result<Option<AuthorizationManager>, NoHeaders> {
        let stored =
            self.saved_credentials().load().await.map_err(|error| self.no_token(&error))?;
        let is_whole =
            |stored: &_| self.is_of_this_client(stored) && stored.token_response.is_some();
        let Some(stored) = stored.filter(is_whole) else { return Ok(None) };
        self.issuer.remember(stored.issuer);
        let mut manager = self.manager().await.map_err(|error| self.no_token(&error))?;
        self.discover(&mut manager, None).await?;
        let restored = async {
            let is_restored = manager.initialize_from_store().await?;
            self.configure(&mut manager, &stored.client_id).await?;
            Ok(is_restored.then_some(manager))
        };
        restored.await.map_err(|error| self.no_token(&error))
    }

    fn is_of_this_client(&self, stored: &StoredCredentials) -> bool {
        let id = self.config.client_id.as_ref();
        id.is_none_or(|id| id.expose() == stored.client_id)
    }

    /// Configures the client with the registration that its tokens belong to.
    async fn configure(
        &self,
        manager: &mut AuthorizationManager,
        id: &str,
    ) -> Result<(), AuthError> {
        if self.config.client_credentials {
            return manager.configure_client_credentials(&self.credentials(Vec::new()));
        }
        let listener = self.listener().await;
        let redirect = listener.map_or(self.url.as_str(), |listener| listener.redirect_uri());
        let mut client = OAuthClientConfig::new(id, redirect);
        if let (Some(_), Some(secret)) = (&self.config.client_id, &self.config.client_secret) {
            client = client.with_client_secret(secret.expose());
        }
        manager.configure_client(client)
    }

    /// Discovers the authorization server, and checks the issuer.
    async fn discover(
        &self,
        manager: &mut AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<(), NoHeaders> {
        self.token_secrets.set_outcome(None);
        let found = manager.resolve_metadata_from_challenge(challenge).await;
        let metadata = found.map_err(|error| self.no_token(&error))?.metadata;
        self.issuer.check(&metadata).map_err(|problem| self.unauthorized(&problem))?;
        manager.set_metadata(metadata);
        Ok(())
    }

    /// The current token, refreshed before its expiry. Concurrent requests share one refresh.
    pub(super) async fn current(&self, manager: &Manager) -> Result<Option<String>, NoHeaders> {
        let start = Instant::now();
        let mut failed = self.refresh_lock.lock().await;
        // A failure during the wait holds for all waiting requests.
        if let Some((_, problem)) = failed.as_ref().filter(|(when, _)| *when >= start) {
            return Err(problem.clone());
        }
        match manager.get_access_token().await {
            Ok(token) => {
                self.token_secrets.note(&token);
                Ok(Some(token))
            }
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => {
                let problem = self.no_token(&error);
                *failed = Some((Instant::now(), problem.clone()));
                Err(problem)
            }
        }
    }

    /// A token other than the rejected one.
    pub(super) async fn renewed(
        &self,
        manager: Option<Manager>,
        rejected: &RejectedRequest,
    ) -> Result<Manager, NoHeaders> {
        let Some(manager) = manager else { return self.authorized(rejected).await };
        if rejected.status == 403 {
            return self.upgraded(manager, rejected).await;
        }
        let refreshed = {
            let _guard = self.refresh_lock.lock().await;
            manager.refresh_token().await
        };
        match refreshed {
            Ok(_) => Ok(manager),
            Err(error) => {
                tracing::debug!(
                    "the token is not refreshed: {}",
                    error_text(&error, &self.token_secrets)
                );
                self.authorized(rejected).await
            }
        }
    }

    /// Obtains a token without a refresh token.
    async fn authorized(&self, rejected: &RejectedRequest) -> Result<Manager, NoHeaders> {
        let mut manager = self.manager().await.map_err(|error| self.no_token(&error))?;
        let challenge = Some(&*rejected.challenge).filter(|challenge| !challenge.is_empty());
        self.discover(&mut manager, challenge).await?;
        if self.config.client_credentials {
            let manager = self.client_credentials(manager).await;
            return manager.map_err(|error| self.no_token(&error));
        }
        let listener = self.listener().await?;
        let session = AuthorizationSession::new(manager, self.request(listener)).await;
        let session = session.map_err(|(_, error)| self.no_token(&error))?;
        let page = session.auth_url;
        self.authorize(Arc::new(session.auth_manager), &page).await
    }

    fn request(&self, listener: &RedirectListener) -> AuthorizationRequest {
        let mut request = AuthorizationRequest::new(listener.redirect_uri())
            .with_client_name(self.config.client_name.as_deref().unwrap_or(CLIENT))
            .with_scopes(self.config.scopes.iter().cloned())
            .with_initial_scope_selection();
        if let Some(id) = &self.config.client_id {
            request = request.with_preregistered_client(id.expose());
        }
        if let Some(secret) = &self.config.client_secret {
            request = request.with_client_secret(secret.expose());
        }
        if let Some(url) = &self.config.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        request
    }

    /// Obtains a token by client credentials.
    async fn client_credentials(
        &self,
        mut manager: AuthorizationManager,
    ) -> Result<Manager, AuthError> {
        let scopes = match &*self.config.scopes {
            [] => manager.select_initial_scopes(&[]).await,
            scopes => scopes.to_vec(),
        };
        let config = self.credentials(scopes);
        manager.validate_client_credentials_metadata(&config)?;
        manager.configure_client_credentials(&config)?;
        manager.exchange_client_credentials(&config).await?;
        Ok(Arc::new(manager))
    }

    fn credentials(&self, scopes: Vec<String>) -> ClientCredentialsConfig {
        let text = |secret: &Option<tool_runtime_core::vocabulary::Secret>| {
            secret.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default()
        };
        ClientCredentialsConfig::ClientSecret {
            client_id: text(&self.config.client_id),
            client_secret: text(&self.config.client_secret),
            scopes,
            resource: Some(self.url.to_string()),
        }
    }

    /// Requests the additional scopes that a server requires, once each.
    async fn upgraded(
        &self,
        manager: Manager,
        rejected: &RejectedRequest,
    ) -> Result<Manager, NoHeaders> {
        let wanted = WWWAuthenticateParams::parse(&rejected.challenge, &self.url).scope;
        let wanted = wanted.unwrap_or_default();
        if self.config.client_credentials || !self.may_upgrade(&wanted) {
            return Err(NoHeaders::Same);
        }
        let page = manager.request_scope_upgrade(&wanted).await;
        let page = page.map_err(|error| self.no_token(&error))?;
        self.authorize(manager, &page).await
    }

    /// Whether to request more scopes again: a server could require another one each time.
    fn may_upgrade(&self, wanted: &str) -> bool {
        if self.scope_upgrades.load(Ordering::Relaxed) >= MAX_SCOPE_UPGRADES {
            return false;
        }
        let mut requested = lock(&self.requested_scopes);
        let scopes = wanted.split_whitespace();
        let is_new = scopes.filter(|scope| requested.insert((*scope).to_owned())).count() > 0;
        self.scope_upgrades.fetch_add(u32::from(is_new), Ordering::Relaxed);
        is_new
    }

    /// Notes a successful call: the scopes were sufficient.
    pub(super) fn note_success(&self) {
        self.scope_upgrades.store(0, Ordering::Relaxed);
    }

    pub(super) async fn listener(&self) -> Result<&RedirectListener, NoHeaders> {
        let redirect = self.config.redirect_uri.as_deref();
        let listener = self.listener.get_or_try_init(|| RedirectListener::bind(redirect)).await;
        listener.map_err(|error| {
            NoHeaders::Failed(format!("a browser could not come back to this program: {error}"))
        })
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let http_client = HttpClient::new(&self.url, Arc::clone(&self.token_secrets)).await;
        let http_client = Arc::new(http_client.map_err(AuthError::InternalError)?);
        let url = self.url.clone();
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(url, http_client).await?;
        manager.set_credential_store(self.saved_credentials());
        Ok(manager)
    }

    fn saved_credentials(&self) -> SavedCredentials {
        let (server, resource) = (self.server.clone(), self.url.to_string());
        SavedCredentials { server, resource, callbacks: self.callbacks.clone() }
    }

    pub(super) fn unauthorized(&self, text: &str) -> NoHeaders {
        NoHeaders::Unauthorized(self.token_secrets.line(text))
    }

    /// The failure for an error. Failed requests are retried, rejections are not.
    pub(super) fn no_token(&self, error: &AuthError) -> NoHeaders {
        let text = format!("no token: {}", error_text(error, &self.token_secrets));
        match error {
            AuthError::HttpError(_)
            | AuthError::DiscoveryRequestFailed { .. }
            | AuthError::TokenRefreshFailed(_) => NoHeaders::Failed(text),
            _ => NoHeaders::Unauthorized(text),
        }
    }
}
