//! Spellings of authentication.

use super::support::{http, problems_of, warnings};
use crate::{McpAuth, McpOAuth, McpText};
use serde_json::{Value, json};

fn auth(key: &str, value: Value) -> Option<McpAuth> {
    http(json!({ "url": "https://example.com", key: value })).auth
}

#[test]
fn tokens_and_passwords_have_several_spellings() {
    let bearer = Some(McpAuth::Bearer("8fQm2x".into()));
    assert_eq!(auth("auth", json!("${TOKEN}")), bearer);
    assert_eq!(auth("auth", json!({ "type": "bearer", "token": "8fQm2x" })), bearer);
    assert_eq!(auth("auth", json!({ "strategy": "bearer", "value": "${env:TOKEN}" })), bearer);
    assert_eq!(auth("auth", json!({ "token": "8fQm2x" })), bearer);
    assert_eq!(auth("auth", json!({ "strategy": "api_key", "value": "8fQm2x" })), bearer);
    assert_eq!(auth("bearer_token", json!("${TOKEN}")), bearer);
    assert_eq!(auth("bearer_token_env_var", json!("TOKEN")), bearer);
    let basic = Some(McpAuth::Basic { user: "ada".into(), password: "8fQm2x".into() });
    let entry = json!({ "kind": "basic", "username": "ada", "password": "${TOKEN}" });
    assert_eq!(auth("auth", entry), basic);
    let key = Some(McpAuth::ApiKey { header: McpText::from("X-Key"), key: "8fQm2x".into() });
    for kind in ["api_key", "apiKey", "header"] {
        let entry = json!({ "type": kind, "header_name": "X-Key", "value": "${TOKEN}" });
        assert_eq!(auth("auth", entry), key);
    }
    assert_eq!(auth("auth", json!("none")), None);
    assert_eq!(auth("auth", json!({ "strategy": "none" })), None);
}

#[test]
fn oauth_has_several_spellings() {
    let plain = Some(McpAuth::OAuth(McpOAuth::default()));
    assert_eq!(auth("auth", json!("oauth")), plain);
    assert_eq!(auth("oauth", json!(true)), plain);
    assert_eq!(auth("oauth", json!({ "enabled": true })), plain);
    assert_eq!(auth("oauth", json!(false)), None);
    assert_eq!(auth("oauth", json!({ "enabled": false })), None);
    let known = Some(McpAuth::OAuth(McpOAuth {
        client_id: Some("tools".into()),
        client_secret: Some("8fQm2x".into()),
        scopes: vec!["a".to_owned(), "b".to_owned()],
        ..McpOAuth::default()
    }));
    for (key, value) in [
        (
            "auth",
            json!({ "CLIENT_ID": "tools", "CLIENT_SECRET": "${TOKEN}", "scopes": ["a", "b"] }),
        ),
        ("oauth", json!({ "clientId": "tools", "clientSecret": "${TOKEN}", "scope": "a b" })),
        (
            "auth",
            json!({ "strategy": "oauth2", "authentication": { "client_id": "tools", "client_secret": "8fQm2x", "scopes": "a b" } }),
        ),
    ] {
        assert_eq!(auth(key, value), known, "{key}");
    }
    let entry = json!({ "url": "https://example.com", "auth": "oauth", "authentication": { "client_id": "tools", "client_secret": "8fQm2x" }, "scopes": ["a", "b"] });
    assert_eq!(http(entry).auth, known);
    let Some(McpAuth::OAuth(oauth)) = auth("oauth", json!({ "callbackPort": 8080 })) else {
        panic!("no OAuth")
    };
    assert_eq!(oauth.redirect_uri.as_deref(), Some("http://localhost:8080/callback"));
}

#[test]
fn rejects_two_ways_to_authenticate() {
    let url = "https://example.com";
    for entry in [
        json!({ "url": url, "auth": "x", "headers": { "Authorization": "y" } }),
        json!({ "url": url, "auth": "oauth", "headers": { "AUTHORIZATION": "y" } }),
        json!({ "url": url, "auth": "x", "bearer_token": "y" }),
        json!({ "url": url, "auth": "x", "scopes": ["y"] }),
        json!({ "url": "https://ada:pw@example.com", "auth": "x" }),
        json!({ "url": "https://ada:pw@example.com", "headers": { "authorization": "y" } }),
        json!({ "url": url, "auth": { "type": "basic", "user": "a", "password": "b", "token": "c" } }),
        json!({ "url": url, "auth": { "header": "X", "key": "k" }, "headers": { "x": "y" } }),
    ] {
        assert_eq!(problems_of(entry.clone()).len(), 1, "{entry}");
    }
    assert!(warnings(json!({ "url": "https://ada:pw@example.com" })).is_empty());
}

#[test]
fn rejects_invalid_credentials() {
    for (auth, words) in [
        (json!(""), "the credential is empty"),
        (json!("a\nb"), "a line break"),
        (json!("${EMPTY}"), "the credential is empty"),
        (json!({ "type": "baerer", "token": "x" }), "did you mean `bearer`?"),
        (json!({ "type": "basic", "user": "a" }), "it has no `password`"),
        (json!({ "type": "basic", "user": "a:b", "password": "c" }), "must not contain a colon"),
        (json!({ "header": "Host", "key": "k" }), "set by the transport itself"),
        (json!({ "grant_type": "client_credentials" }), "needs an id and a secret"),
        (json!({ "tokenUrl": "https://example.com" }), "found by the server's own metadata"),
        (json!(7), "must be an object"),
    ] {
        let problems = problems_of(json!({ "url": "https://example.com", "auth": auth }));
        assert!(problems[0].contains(words), "{auth}: {problems:?}");
    }
}

#[test]
fn mistakes_are_reported_at_their_path() {
    for (key, value) in [("bearer_token", json!("a\nb")), ("bearer_token_env_var", json!("EMPTY"))]
    {
        let problems = problems_of(json!({ "url": "https://example.com", key: value }));
        assert!(problems[0].starts_with(&format!("`mcpServers.s.{key}`: ")), "{problems:?}");
    }
}

#[test]
fn plaintext_secrets_are_a_warning() {
    let warned = |entry: Value| warnings(entry).len();
    assert_eq!(warned(json!({ "url": "http://example.com", "auth": "x" })), 1);
    assert_eq!(warned(json!({ "url": "http://example.com", "headers": { "X": "y" } })), 1);
    assert_eq!(warned(json!({ "url": "http://example.com" })), 0);
    assert_eq!(warned(json!({ "url": "http://127.0.0.1:80", "auth": "x" })), 0);
}
