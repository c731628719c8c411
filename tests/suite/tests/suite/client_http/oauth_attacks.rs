//! Malicious authorization servers that a server names.

use super::login::{Login, MemoryStore, Person, confidential, manager_with};
use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, call, in_time, pass_through, tools, until,
};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{McpOAuth, McpState};
use tool_runtime::prelude::*;

fn needs_auth(state: &McpState) -> bool {
    matches!(state, McpState::NeedsAuth { .. })
}

#[tokio::test]
async fn only_http_and_https_pages_are_opened() {
    for page in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "vscode://x/y",
        "http://login.example/authorize",
        "https://ada@login.example/authorize",
        "https://login.example/authorize?state=fixed",
        "https://login.example/authorize?redirect_uri=https://evil.example",
    ] {
        let remote = Login { page: Some(page.to_owned()), ..Login::default() }.start();
        let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
        let manager =
            person.approve_in(manager_with(&remote, McpOAuth::default())).start(&pool).unwrap();
        let state = until(&manager, needs_auth).await.to_string();
        assert!(state.contains("it is not opened"), "{page}: {state}");
        assert_eq!(person.pages(), 0, "{page}");
    }
}

#[tokio::test]
async fn tokens_of_one_address_are_not_sent_to_another() {
    let (remote, kept) = (Login::default().start(), Arc::new(MemoryStore::default()));
    let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
    let manager =
        person.approve_in(manager_with(&remote, McpOAuth::default())).tokens(kept.clone());
    in_time(in_time(manager.connect(&pool)).await.unwrap().close()).await;
    // A server without OAuth that accepts any request.
    let other = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
    let manager = manager_with(&other, McpOAuth::default()).tokens(kept);
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    assert!(other.count(|seen| seen.path == "/mcp") > 0);
    assert_eq!(other.count(|seen| !seen.header("authorization").is_empty()), 0);
}

#[tokio::test]
async fn free_text_of_a_token_endpoint_is_not_shown() {
    for description in ["BODY AUTH", "\u{1b}[2J", &"x".repeat(1_000_000)] {
        for error in ["invalid_client", "BODY AUTH"] {
            for is_by_itself in [false, true] {
                let text = json!({ "error": error, "error_description": description }).to_string();
                let tokens = move |seen: &RecordedRequest| {
                    let text = text.replace("BODY", &seen.body.replace('"', "'"));
                    let text = text.replace("AUTH", seen.header("authorization"));
                    Some((StatusCode::BAD_REQUEST, text).into_response())
                };
                let remote = Login { tokens: Some(Arc::new(tokens)), ..Login::default() }.start();
                let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
                let mut oauth = confidential();
                oauth.client_credentials = is_by_itself;
                let manager = person.approve_in(manager_with(&remote, oauth)).start(&pool).unwrap();
                let state = until(&manager, needs_auth).await.to_string();
                let expected =
                    if error == "BODY AUTH" { "HTTP 400" } else { "says `invalid_client`" };
                assert!(state.contains(expected), "{state}");
                assert!(state.len() < 500 && !state.contains('\u{1b}'), "{state}");
                for secret in ["client-secret", "code-1vXk9p", "code_verifier", "dG9vbHM6"] {
                    assert!(!state.contains(secret), "{state}");
                }
            }
        }
    }
}

fn is_refresh(seen: &RecordedRequest) -> bool {
    seen.path == "/token" && seen.body.contains("grant_type=refresh_token")
}

#[tokio::test]
async fn calls_share_one_refresh_and_short_tokens_are_not_refreshed_each_time() {
    let (remote, kept) = (Login::default().start(), Arc::new(MemoryStore::default()));
    let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
    let manager =
        person.approve_in(manager_with(&remote, McpOAuth::default())).tokens(kept.clone());
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    for expected in [0, 1] {
        let calls = (0..30).map(|_| call(&pool, "hit", json!({})));
        for result in futures_util::future::join_all(calls).await {
            assert!(result.error().is_none(), "{result:?}");
        }
        assert_eq!(remote.count(is_refresh), expected);
        // The authorization has long expired.
        kept.change("token_received_at", json!(1));
    }
}

#[tokio::test]
async fn a_restored_client_has_its_secret() {
    let (remote, kept) = (Login::default().start(), Arc::new(MemoryStore::default()));
    let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
    let manager = person.approve_in(manager_with(&remote, confidential())).tokens(kept.clone());
    in_time(in_time(manager.connect(&pool)).await.unwrap().close()).await;
    kept.change("token_received_at", json!(1));
    let manager = manager_with(&remote, confidential()).tokens(kept);
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    let seen = remote.seen();
    let refresh = seen.iter().rfind(|seen| is_refresh(seen)).expect("it is refreshed");
    assert!(refresh.header("authorization").starts_with("Basic dG9vbHM6"), "{refresh:?}");
}

#[tokio::test]
async fn a_secret_is_sent_to_the_configured_issuer() {
    let remote = Login::default().start();
    let pool = ToolPool::builder().build().unwrap();
    for is_by_itself in [false, true] {
        let mut oauth = confidential();
        oauth.client_credentials = is_by_itself;
        oauth.issuer = Some("https://login.example".to_owned());
        let person = Person::default();
        let manager = person.approve_in(manager_with(&remote, oauth)).start(&pool).unwrap();
        let state = until(&manager, needs_auth).await.to_string();
        assert!(state.contains("which differs from `issuer`"), "{state}");
        assert_eq!((person.pages(), remote.count(|seen| seen.path == "/token")), (0, 0));
        in_time(manager.close()).await;
    }
    let mut oauth = confidential();
    oauth.client_credentials = true;
    oauth.issuer = Some(format!("http://{}", remote.address));
    let _manager = in_time(manager_with(&remote, oauth).connect(&pool)).await.unwrap();
}

#[tokio::test]
async fn a_secret_is_sent_only_to_the_previous_issuer() {
    let (remote, kept) = (Login::default().start(), Arc::new(MemoryStore::default()));
    let pool = ToolPool::builder().build().unwrap();
    let mut oauth = confidential();
    oauth.client_credentials = true;
    let manager = manager_with(&remote, oauth.clone()).tokens(kept.clone());
    in_time(in_time(manager.connect(&pool)).await.unwrap().close()).await;
    kept.change("issuer", json!("https://login.example"));
    let manager = manager_with(&remote, oauth).tokens(kept.clone()).start(&pool).unwrap();
    let state = until(&manager, needs_auth).await.to_string();
    assert!(state.contains("which differs from the previous one"), "{state}");
    assert_eq!(remote.count(|seen| seen.path == "/token"), 1);
    assert!(kept.text().contains("https://login.example"));
}

#[tokio::test]
async fn endless_authorization_rounds_are_limited() {
    let wanted = AtomicUsize::new(0);
    let messages = move |seen: &RecordedRequest| {
        let number = wanted.fetch_add(usize::from(seen.calls("tools/call")), Ordering::Relaxed);
        let challenge = format!(r#"Bearer error="insufficient_scope", scope="more-{number}""#);
        let rejected = (StatusCode::FORBIDDEN, [("www-authenticate", challenge)]);
        seen.calls("tools/call").then(|| rejected.into_response())
    };
    let remote = Login { messages: Some(Arc::new(messages)), ..Login::default() }.start();
    let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
    let manager = person.approve_in(manager_with(&remote, McpOAuth::default())).connect(&pool);
    let manager = in_time(manager).await.unwrap();
    for _ in 0..10 {
        let result = call(&pool, "hit", json!({})).await;
        assert!(result.error().is_some(), "{result:?}");
    }
    assert_eq!(person.pages(), 4);
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
}

#[tokio::test]
async fn tokens_are_for_the_address_without_its_query() {
    let remote = Login::default().start();
    let (pool, person) = (ToolPool::builder().build().unwrap(), Person::default());
    let url = format!("{}?key=query-4kLm1q", remote.url());
    let config = tool_runtime::mcp::McpServerConfig::http(url);
    let config = config.auth(tool_runtime::mcp::McpAuth::OAuth(McpOAuth::default()));
    let manager = person.approve_in(super::remote_server::builder_of(config)).connect(&pool);
    let _manager = in_time(manager).await.unwrap();
    let is_notified = |seen: &RecordedRequest| {
        let query_parameter = serde_json::to_string(&Value::from(&*seen.body)).unwrap();
        seen.path != "/mcp" && query_parameter.contains("query-4kLm1q")
    };
    assert_eq!(remote.count(is_notified), 0);
    assert_eq!(remote.count(|seen| seen.path == "/token" && seen.body.contains("%2Fmcp")), 1);
}
