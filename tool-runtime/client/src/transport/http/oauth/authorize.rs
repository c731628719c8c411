//! Sends the user to the authorization page and waits for the redirect.

use super::flow::{Flow, Manager};
use super::host_callbacks::McpAuthPage;
use super::page;
use crate::transport::http::credentials::NoHeaders;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationCallback;
use std::time::Duration;
use tokio::time::timeout;

/// Time that the user may take.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);

impl Flow {
    /// Shows the user a page, and exchanges the code of the redirect for a token.
    pub(super) async fn authorize(
        &self,
        manager: Manager,
        page: &str,
    ) -> Result<Manager, NoHeaders> {
        let page =
            page::check_page(page, &self.url).map_err(|problem| self.unauthorized(problem))?;
        let listener = self.listener().await?;
        let Some(show) = self.callbacks.page() else {
            let text = "the user has to authorize this program, which cannot ask for it (`McpManagerBuilder::oauth`)";
            return Err(self.unauthorized(text));
        };
        let opened = show(McpAuthPage {
            server: self.server.clone(),
            url: page.to_string(),
            redirect_uri: listener.redirect_uri().to_owned(),
        });
        let back = async {
            match opened.await {
                Ok(Some(url)) => Url::parse(&url).map_err(|error| error.to_string()),
                Ok(None) => {
                    let redirect = listener.redirected(&page::state(&page)).await;
                    redirect.map_err(|error| error.to_string())
                }
                Err(error) => Err(format!("no page is shown: {error}")),
            }
        };
        let back = match timeout(LOGIN_TIMEOUT, back).await {
            Ok(back) => back.map_err(|problem| self.unauthorized(&problem))?,
            Err(_) => {
                let text = "the authorization was not granted within ten minutes";
                return Err(self.unauthorized(text));
            }
        };
        self.exchange(&manager, &back).await?;
        Ok(manager)
    }

    /// Exchanges the code of a redirect for a token.
    async fn exchange(&self, manager: &Manager, back: &Url) -> Result<(), NoHeaders> {
        let parameter =
            |name| back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
        if let Some(error) = parameter("error") {
            let why = parameter("error_description").unwrap_or_default();
            let text = format!("this program is not authorized: `{error}` {why}");
            return Err(self.unauthorized(&text));
        }
        let callback = AuthorizationCallback::from_redirect_url(back.as_str());
        let callback = callback.map_err(|error| self.no_token(&error))?;
        self.token_secrets.note(&callback.code);
        let taken = manager.exchange_code_for_token_with_issuer(
            &callback.code,
            &callback.csrf_token,
            callback.issuer.as_deref(),
        );
        taken.await.map(drop).map_err(|error| self.no_token(&error))
    }
}
