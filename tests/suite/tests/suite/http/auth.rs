//! Authentication of clients, and the principal that tools see.

use super::client::RawRequest;
use super::test_server::TestServer;
use std::future::ready;
use tool_runtime::http::{AuthRejection, Authenticate, BearerTokens, HttpOptions};
use tool_runtime::{BoxFuture, Principal};

fn tokens() -> BearerTokens {
    BearerTokens::parse("ada:t-1\nbob:t-2\nt-3").expect("tokens")
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test]
async fn only_health_is_answered_without_a_valid_token() {
    let server = TestServer::start(HttpOptions::default().auth(tokens())).await;
    let call = RawRequest::call(1, "whoami");
    let rejected = server.request(&call).await;
    assert_eq!(rejected.status(), 401);
    assert_eq!(rejected.head.header("www-authenticate"), r#"Bearer realm="mcp""#);
    for header in
        ["Bearer wrong", "Bearer ", "Bearer ada:t-1", "Basic t-1", "t-1", "Bearer t-1 t-2"]
    {
        let rejected = server.request(&call.clone().with("authorization", header)).await;
        assert_eq!(rejected.status(), 401, "{header}");
        assert!(rejected.head.header("www-authenticate").starts_with("Bearer "), "{header}");
        assert!(!rejected.body.contains("t-1"), "{rejected:?}");
    }
    assert_eq!(
        server.request(&RawRequest::new("GET", "/mcp?access_token=t-1")).await.status(),
        401
    );
    assert_eq!(server.request(&RawRequest::new("DELETE", "/mcp")).await.status(), 401);
    let health = server.request(&RawRequest::new("GET", "/healthz")).await;
    assert_eq!((health.status(), health.body.as_str()), (200, "ok\n"));
}

#[tokio::test]
async fn a_tool_sees_the_client_info() {
    let server = TestServer::start(HttpOptions::default().auth(tokens())).await;
    for (token, name) in [("t-1", "ada"), ("t-2", "bob"), ("t-3", "#3")] {
        let authorization = bearer(token);
        let call = RawRequest::call(1, "whoami").with("authorization", &authorization);
        let answer = server.request(&call).await.json();
        assert_eq!(answer["result"]["content"][0]["text"], name);
        let session = server.session(&[("authorization", &authorization)]).await;
        let call =
            RawRequest::call_within(&session, 1, "whoami").with("authorization", &authorization);
        let answer = server.request(&call).await.last_event();
        assert_eq!(answer["result"]["content"][0]["text"], name);
    }
}

#[tokio::test]
async fn a_session_is_available_only_to_its_owner() {
    let server = TestServer::start(HttpOptions::default().auth(tokens())).await;
    let session = server.session(&[("authorization", "Bearer t-1")]).await;
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    for request in
        [RawRequest::call_within(&session, 1, "whoami"), RawRequest::listen(&session), end]
    {
        assert_eq!(
            server.request(&request.with("authorization", "Bearer t-2")).await.status(),
            404
        );
    }
    let own_session =
        RawRequest::call_within(&session, 1, "whoami").with("authorization", "Bearer t-1");
    assert_eq!(
        server.request(&own_session).await.last_event()["result"]["content"][0]["text"],
        "ada"
    );
}

/// Identifies each client by its token, and rejects some of them.
struct NamedClients;

impl Authenticate for NamedClients {
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        request: &'a axum::http::request::Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        Box::pin(ready(match token {
            None => Err(AuthRejection::Unknown),
            Some("guest") => {
                Err(AuthRejection::InsufficientScope(vec!["a:read".into(), "a:write".into()]))
            }
            Some("later") => Err(AuthRejection::Unavailable("the keys are lost".into())),
            Some(name) => Ok(Principal::new(format!("{name}@{}", request.uri.path()))),
        }))
    }
}

#[tokio::test]
async fn a_custom_authenticator_sets_principal_and_challenge() {
    let metadata = "https://example.com/.well-known/oauth-protected-resource";
    let options = HttpOptions::default().auth(NamedClients).resource_metadata(metadata);
    let server = TestServer::start(options).await;
    let request = |token: &str| RawRequest::call(1, "whoami").with("authorization", &bearer(token));
    let answer = server.request(&request("eve")).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "eve@/mcp");
    let unknown = server.request(&RawRequest::call(1, "whoami")).await;
    assert_eq!(unknown.status(), 401);
    assert_eq!(
        unknown.head.header("www-authenticate"),
        format!(r#"Bearer realm="mcp", resource_metadata="{metadata}""#)
    );
    let guest = server.request(&request("guest")).await;
    assert_eq!(guest.status(), 403);
    let challenge = guest.head.header("www-authenticate");
    assert!(
        challenge.contains(r#"error="insufficient_scope", scope="a:read a:write""#),
        "{challenge}"
    );
    let later = server.request(&request("later")).await;
    assert_eq!((later.status(), later.head.header("retry-after")), (503, "1"));
    assert!(!later.body.contains("keys"), "{later:?}");
}
