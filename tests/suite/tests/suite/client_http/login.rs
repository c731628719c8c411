//! A server that is its own authorization server, with configurable faults.

use super::remote_server::{Probe, RecordedRequest, RemoteServer, builder_of, tools};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{
    McpAuth, McpAuthPage, McpManagerBuilder, McpOAuth, McpServerConfig, McpTokens,
};
use tool_runtime::{BoxFuture, Secret};

pub(super) type AnyError = Box<dyn Error + Send + Sync>;
type Intercept = dyn Fn(&RecordedRequest) -> Option<Response> + Send + Sync;

/// The faults.
#[derive(Clone, Default)]
pub(super) struct Login {
    /// The authorization endpoint, if it differs.
    pub(super) page: Option<String>,
    /// The answer to token requests, if not tokens.
    pub(super) tokens: Option<Arc<Intercept>>,
    /// The answer to messages, if they are not accepted.
    pub(super) messages: Option<Arc<Intercept>>,
    /// The number of issued tokens.
    pub(super) issued: Arc<AtomicUsize>,
}

impl Login {
    pub(super) fn start(self) -> RemoteServer {
        RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), move |seen| {
            self.answer(seen)
        })
    }

    fn answer(&self, seen: &RecordedRequest) -> Option<Response> {
        let origin = format!("http://{}", seen.header("host"));
        let json = |value: Value| {
            Some(([("content-type", "application/json")], value.to_string()).into_response())
        };
        match &*seen.path {
            "/.well-known/oauth-protected-resource/mcp" => json(json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [origin],
            })),
            "/.well-known/oauth-authorization-server" => json(json!({
                "issuer": origin,
                "authorization_endpoint":
                    self.page.clone().unwrap_or_else(|| format!("{origin}/authorize")),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
                "response_types_supported": ["code"],
            })),
            "/register" => json(json!({
                "client_id": "registered",
                "redirect_uris": seen.message["redirect_uris"],
            })),
            "/token" => self.tokens.as_ref().and_then(|tokens| tokens(seen)).or_else(|| {
                let number = self.issued.fetch_add(1, Ordering::Relaxed) + 1;
                json(json!({
                    "access_token": format!("access-token-{number}"),
                    "token_type": "Bearer",
                    "expires_in": 20,
                    "refresh_token": format!("refresh-token-{number}"),
                }))
            }),
            "/mcp" if seen.header("authorization").is_empty() => {
                let challenge = format!(
                    r#"Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp""#
                );
                let challenge = [("www-authenticate", challenge)];
                Some((StatusCode::UNAUTHORIZED, challenge).into_response())
            }
            "/mcp" => self.messages.as_ref().and_then(|messages| messages(seen)),
            _ => Some(StatusCode::NOT_FOUND.into_response()),
        }
    }
}

pub(super) fn manager_with(remote: &RemoteServer, oauth: McpOAuth) -> McpManagerBuilder {
    builder_of(McpServerConfig::http(remote.url()).auth(McpAuth::OAuth(oauth)))
}

/// A client with a secret.
pub(super) fn confidential() -> McpOAuth {
    let mut oauth = McpOAuth::default();
    oauth.client_id = Some("tools".into());
    oauth.client_secret = Some("client-secret-8fQm2x".into());
    oauth
}

/// The query parameters of a page's address.
pub(super) fn query_parameter(page: &McpAuthPage, name: &str) -> String {
    let value = page.url.split(['?', '&']).find_map(|pair| pair.strip_prefix(name));
    value.and_then(|value| value.strip_prefix('=')).unwrap_or_default().to_owned()
}

/// A user who authorizes this program at once, and the pages shown to them.
#[derive(Clone, Default)]
pub(super) struct Person(Arc<Mutex<Vec<McpAuthPage>>>);

impl Person {
    pub(super) fn pages(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(super) fn approve_in(&self, builder: McpManagerBuilder) -> McpManagerBuilder {
        let shown = Arc::clone(&self.0);
        builder.oauth(move |page: McpAuthPage| {
            let state = query_parameter(&page, "state");
            let back = format!("{}?code=code-1vXk9p&state={state}", page.redirect_uri);
            shown.lock().unwrap().push(page);
            async move { Ok(Some(back)) }
        })
    }
}

/// Tokens that outlive a manager.
#[derive(Default)]
pub(super) struct MemoryStore(pub(super) Mutex<HashMap<String, Secret>>);

impl MemoryStore {
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap()["remote"].expose().to_owned()
    }

    /// Modifies the stored credentials.
    pub(super) fn change(&self, key: &str, value: Value) {
        let mut tokens: Value = serde_json::from_str(&self.text()).unwrap();
        tokens[key] = value;
        self.0.lock().unwrap().insert("remote".to_owned(), Secret::from(tokens.to_string()));
    }
}

impl McpTokens for MemoryStore {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Secret>, AnyError>> {
        Box::pin(async move {
            // Answers after a delay, like a store on another machine.
            tokio::task::yield_now().await;
            Ok(self.0.lock().unwrap().get(server).cloned())
        })
    }

    fn save<'a>(
        &'a self,
        server: &'a str,
        tokens: Option<Secret>,
    ) -> BoxFuture<'a, Result<(), AnyError>> {
        Box::pin(async move {
            let mut stored = self.0.lock().unwrap();
            match tokens {
                Some(tokens) => drop(stored.insert(server.to_owned(), tokens)),
                None => drop(stored.remove(server)),
            }
            Ok(())
        })
    }
}
