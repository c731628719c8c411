//! The ways to a token: another one for an old one, by the client's own secret, by a person.

use super::aids::{McpAuthPage, OAuthAids};
use super::asker::Asker;
use super::landing::Landing;
use super::no_token;
use super::page;
use super::vault::Vault;
use crate::mcp::client::transport::http::headers::{NoHeaders, Refused};
use crate::mcp::config::McpOAuth;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationRequest,
    AuthorizationSession, ClientCredentialsConfig, CredentialStore as _, WWWAuthenticateParams,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// How long a person may take.
const LONGEST: Duration = Duration::from_secs(600);
/// What the client is called where nobody says otherwise.
const CLIENT: &str = "tool-runtime";

type Manager = Arc<AuthorizationManager>;

/// How one server's tokens are got.
pub(super) struct Flow {
    server: String,
    url: Url,
    config: McpOAuth,
    aids: OAuthAids,
    landing: OnceCell<Landing>,
    /// The scopes that were asked for because a server wanted more.
    asked: Mutex<BTreeSet<String>>,
}

impl Flow {
    pub(super) fn new(server: &str, url: &Url, config: &McpOAuth, aids: &OAuthAids) -> Self {
        Self {
            server: server.to_owned(),
            url: url.clone(),
            config: config.clone(),
            aids: aids.clone(),
            landing: OnceCell::new(),
            asked: Mutex::default(),
        }
    }

    /// With the tokens of an earlier run, if there are any.
    pub(super) async fn restored(&self) -> Result<Option<AuthorizationManager>, AuthError> {
        let stored = self.vault().load().await?;
        if stored.is_none_or(|stored| stored.token_response.is_none()) {
            return Ok(None);
        }
        let mut manager = self.manager().await?;
        Ok(manager.initialize_from_store().await?.then_some(manager))
    }

    /// Another token than the one that was refused.
    pub(super) async fn renewed(
        &self,
        manager: Option<Manager>,
        refused: &Refused,
    ) -> Result<Manager, NoHeaders> {
        let Some(manager) = manager else { return self.authorized(refused).await };
        if refused.status == 403 {
            return self.widened(manager, refused).await;
        }
        match manager.refresh_token().await {
            Ok(_) => Ok(manager),
            Err(error) => {
                tracing::debug!("the token is not refreshed: {error}");
                self.authorized(refused).await
            }
        }
    }

    /// From the beginning.
    async fn authorized(&self, refused: &Refused) -> Result<Manager, NoHeaders> {
        let mut manager = self.manager().await.map_err(|error| no_token(&error))?;
        let challenge = Some(&*refused.challenge).filter(|challenge| !challenge.is_empty());
        let metadata = manager.resolve_metadata_from_challenge(challenge).await;
        manager.set_metadata(metadata.map_err(|error| no_token(&error))?.metadata);
        if self.config.client_credentials {
            let manager = self.by_itself(manager).await;
            return manager.map_err(|error| no_token(&error));
        }
        let landing = self.landing().await?;
        let session = AuthorizationSession::new(manager, self.request(landing)).await;
        let session = session.map_err(|(_, error)| no_token(&error))?;
        let page = session.auth_url;
        self.let_in(Arc::new(session.auth_manager), &page).await
    }

    fn request(&self, landing: &Landing) -> AuthorizationRequest {
        let mut request = AuthorizationRequest::new(landing.redirect_uri())
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

    /// A client that asks for itself.
    async fn by_itself(&self, mut manager: AuthorizationManager) -> Result<Manager, AuthError> {
        let text = |secret: &Option<crate::secret::Secret>| {
            secret.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default()
        };
        let scopes = match &*self.config.scopes {
            [] => manager.select_initial_scopes(&[]).await,
            scopes => scopes.to_vec(),
        };
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: text(&self.config.client_id),
            client_secret: text(&self.config.client_secret),
            scopes,
            resource: Some(self.url.to_string()),
        };
        manager.validate_client_credentials_metadata(&config)?;
        manager.configure_client_credentials(&config)?;
        manager.exchange_client_credentials(&config).await?;
        Ok(Arc::new(manager))
    }

    /// With more scopes: those that a server wants, if they were not asked for before.
    async fn widened(&self, manager: Manager, refused: &Refused) -> Result<Manager, NoHeaders> {
        let wanted = WWWAuthenticateParams::parse(&refused.challenge, &self.url).scope;
        let wanted = wanted.unwrap_or_default();
        let is_new = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let all = wanted.split_whitespace();
            all.filter(|scope| asked.insert((*scope).to_owned())).count() > 0
        };
        if !is_new || self.config.client_credentials {
            return Err(NoHeaders::Same);
        }
        let page = manager.request_scope_upgrade(&wanted).await;
        let page = page.map_err(|error| no_token(&error))?;
        self.let_in(manager, &page).await
    }

    /// Sends a person to a page, and waits for them to come back.
    async fn let_in(&self, manager: Manager, page: &str) -> Result<Manager, NoHeaders> {
        let page = page::fit(page, &self.url)
            .map_err(|problem| NoHeaders::Unauthorized(problem.to_owned()))?;
        let landing = self.landing().await?;
        let Some(show) = self.aids.page() else {
            let text = "a person would have to let this program in, and it does not say how to ask them (`McpManagerBuilder::oauth`)";
            return Err(NoHeaders::Unauthorized(text.to_owned()));
        };
        let shown = show(McpAuthPage {
            server: self.server.clone(),
            url: page.to_string(),
            redirect_uri: landing.redirect_uri().to_owned(),
        });
        let back = async {
            match shown.await {
                Ok(Some(url)) => Url::parse(&url).map_err(|error| error.to_string()),
                Ok(None) => {
                    landing.landed(&page::state(&page)).await.map_err(|error| error.to_string())
                }
                Err(error) => Err(format!("no page is shown: {error}")),
            }
        };
        let back = match timeout(LONGEST, back).await {
            Ok(back) => back.map_err(NoHeaders::Unauthorized)?,
            Err(_) => {
                let text = "nobody has let this program in within ten minutes";
                return Err(NoHeaders::Unauthorized(text.to_owned()));
            }
        };
        self.taken(&manager, &back).await?;
        Ok(manager)
    }

    /// Takes a token for what a page led back with.
    async fn taken(&self, manager: &Manager, back: &Url) -> Result<(), NoHeaders> {
        let said = |name| back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
        if let Some(error) = said("error") {
            let why = said("error_description").unwrap_or_default();
            let text = format!("this program is not let in: `{error}` {why}");
            return Err(NoHeaders::Unauthorized(text.trim_end().to_owned()));
        }
        let callback = AuthorizationCallback::from_redirect_url(back.as_str());
        let callback = callback.map_err(|error| no_token(&error))?;
        let taken = manager.exchange_code_for_token_with_issuer(
            &callback.code,
            &callback.csrf_token,
            callback.issuer.as_deref(),
        );
        taken.await.map(drop).map_err(|error| no_token(&error))
    }

    async fn landing(&self) -> Result<&Landing, NoHeaders> {
        let redirect = self.config.redirect_uri.as_deref();
        let landing = self.landing.get_or_try_init(|| Landing::at(redirect)).await;
        landing.map_err(|error| {
            NoHeaders::Failed(format!("a browser could not come back to this program: {error}"))
        })
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let asker = Asker::new(&self.url).await.map_err(AuthError::InternalError)?;
        let (url, asker) = (self.url.clone(), Arc::new(asker));
        let mut manager = AuthorizationManager::new_with_oauth_http_client(url, asker).await?;
        manager.set_credential_store(self.vault());
        Ok(manager)
    }

    fn vault(&self) -> Vault {
        Vault { server: self.server.clone(), aids: self.aids.clone() }
    }
}
