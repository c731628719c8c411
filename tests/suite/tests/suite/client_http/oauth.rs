//! Access tokens by OAuth.

use super::login::{AnyError, MemoryStore};
use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, builder_of, call, in_time, tools, until,
};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{
    McpAuth, McpAuthPage, McpManagerBuilder, McpOAuth, McpServerConfig, McpState,
};
use tool_runtime::prelude::*;

/// A server that is its own authorization server. Its tokens are numbered, and one is valid.
#[derive(Clone)]
struct Guarded {
    valid_token: Arc<AtomicUsize>,
    given: Arc<AtomicUsize>,
}

impl Guarded {
    fn start() -> (Self, RemoteServer) {
        let guarded = Self { valid_token: Arc::new(AtomicUsize::new(1)), given: Arc::default() };
        let intercept = guarded.clone();
        let probe = Probe::new();
        (
            guarded,
            RemoteServer::start(&tools(&probe), HttpOptions::default(), move |seen| {
                intercept.answer(seen)
            }),
        )
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
                "scopes_supported": ["tools"],
            })),
            "/.well-known/oauth-authorization-server" => json(json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
                "response_types_supported": ["code"],
            })),
            "/register" => json(json!({
                "client_id": "registered",
                "redirect_uris": seen.message["redirect_uris"],
            })),
            "/token" => {
                let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
                json(json!({
                    "access_token": format!("token-{number}"),
                    "token_type": "Bearer",
                    "expires_in": 3600,
                    "refresh_token": format!("refresh-{number}"),
                }))
            }
            "/mcp" => {
                let valid_token =
                    format!("Bearer token-{}", self.valid_token.load(Ordering::Relaxed));
                let challenge = format!(
                    r#"Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp""#
                );
                let rejected = (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]);
                (seen.header("authorization") != valid_token).then(|| rejected.into_response())
            }
            _ => Some(StatusCode::NOT_FOUND.into_response()),
        }
    }
}

fn builder(remote: &RemoteServer) -> McpManagerBuilder {
    manager_with(remote, McpOAuth::default())
}

fn manager_with(remote: &RemoteServer, oauth: McpOAuth) -> McpManagerBuilder {
    builder_of(McpServerConfig::http(remote.url()).auth(McpAuth::OAuth(oauth)))
}

/// The query parameters of a page's address.
fn query_parameter(page: &McpAuthPage, name: &str) -> String {
    let value = page.url.split(['?', '&']).find_map(|pair| pair.strip_prefix(name));
    value.and_then(|value| value.strip_prefix('=')).unwrap_or_default().to_owned()
}

/// Returns from a page, like a browser.
async fn back(page: &McpAuthPage, query: &str) -> Result<String, AnyError> {
    let rest = page.redirect_uri.strip_prefix("http://").ok_or("an address of this machine")?;
    let (host, path) = rest.split_once('/').ok_or("a path")?;
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /{path}?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// Authorizes this program.
async fn approve(page: McpAuthPage) -> Result<Option<String>, AnyError> {
    let state = query_parameter(&page, "state");
    // The redirect listener starts once the page has been shown.
    tokio::spawn(async move { back(&page, &format!("code=c&state={state}")).await });
    Ok(None)
}

#[tokio::test]
async fn a_user_authorizes_this_program() {
    let (_, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let manager = in_time(builder(&remote).oauth(approve).connect(&pool)).await.unwrap();
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    let seen = remote.seen();
    let token = seen.iter().find(|seen| seen.path == "/token").unwrap();
    for expected in ["grant_type=authorization_code", "code=c", "code_verifier=", "resource="] {
        assert!(token.body.contains(expected), "{}", token.body);
    }
}

#[tokio::test]
async fn authorization_by_a_user_has_no_short_timeout() {
    let (_, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let go = Arc::new(Semaphore::new(0));
    let waits = Arc::clone(&go);
    let manager = builder(&remote).oauth(move |page| {
        let waits = Arc::clone(&waits);
        async move {
            waits.acquire().await?.forget();
            approve(page).await
        }
    });
    let manager = manager.start(&pool).unwrap();
    let state = until(&manager, |state| *state != McpState::Connecting).await;
    assert_eq!(state, McpState::Authorizing);
    go.add_permits(1);
    until(&manager, |state| *state == McpState::Ready).await;
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
}

#[tokio::test]
async fn a_user_may_decline() {
    let (_, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let manager = builder(&remote).oauth(|page: McpAuthPage| async move {
        let state = query_parameter(&page, "state");
        let uri = &page.redirect_uri;
        Ok(Some(format!("{uri}?error=access_denied&error_description=no+way&state={state}")))
    });
    let manager = manager.start(&pool).unwrap();
    let state = until(&manager, |state| *state != McpState::Connecting).await.to_string();
    assert!(state.contains("needs auth"), "{state}");
    assert!(state.contains("this program is not authorized: `access_denied` no way"), "{state}");
}

#[tokio::test]
async fn a_server_without_a_user_stays_in_needs_auth() {
    let (_, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let manager = in_time(builder(&remote).connect(&pool)).await.expect("no server is required");
    let state = manager.status()[0].state.to_string();
    assert!(state.contains("`McpManagerBuilder::oauth`"), "{state}");
}

#[tokio::test]
async fn a_rejected_token_is_refreshed_without_the_user() {
    let (guarded, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let pages = Arc::new(AtomicUsize::new(0));
    let shown = Arc::clone(&pages);
    let manager = builder(&remote).oauth(move |page| {
        shown.fetch_add(1, Ordering::Relaxed);
        approve(page)
    });
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    guarded.valid_token.store(2, Ordering::Relaxed);
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    assert_eq!(pages.load(Ordering::Relaxed), 1);
    let refreshed = |seen: &RecordedRequest| seen.body.contains("refresh_token=refresh-1");
    assert_eq!(remote.count(refreshed), 1);
}

#[tokio::test]
async fn a_client_authenticates_with_its_own_credentials() {
    let (_, remote) = Guarded::start();
    let pool = ToolPool::builder().build().unwrap();
    let mut oauth = McpOAuth::default();
    oauth.client_id = Some("tools".into());
    oauth.client_secret = Some("secret-8fQm2x".into());
    oauth.client_credentials = true;
    let _manager = in_time(manager_with(&remote, oauth).connect(&pool)).await.unwrap();
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    assert_eq!(remote.count(|seen| seen.body.contains("grant_type=client_credentials")), 1);
    assert_eq!(remote.count(|seen| seen.path == "/register"), 0);
}

#[tokio::test]
async fn stored_tokens_outlive_a_manager() {
    let (_, remote) = Guarded::start();
    let store = Arc::new(MemoryStore::default());
    let pool = ToolPool::builder().build().unwrap();
    let manager = builder(&remote).oauth(approve).tokens(store.clone());
    in_time(in_time(manager.connect(&pool)).await.unwrap().close()).await;
    assert!(store.0.lock().unwrap()["remote"].expose().contains("token-1"));
    // No page is shown, because no user is present.
    let manager = builder(&remote).tokens(store);
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
}
