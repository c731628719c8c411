//! Limits per client.

use super::client::{Answer, RawRequest};
use super::test_server::{TestServer, in_time};
use std::future::pending;
use std::time::Duration;
use tool_runtime::http::{AuthRejection, Authenticate, BearerTokens, HttpOptions};
use tool_runtime::{BoxFuture, Principal};

const ADA: &str = "Bearer t-1";
const BOB: &str = "Bearer t-2";

async fn start(options: HttpOptions) -> TestServer {
    let tokens = BearerTokens::parse("ada:t-1\nbob:t-2").expect("tokens");
    TestServer::start(options.auth(tokens)).await
}

/// The error names the exceeded limit, and says that it is temporary.
fn assert_limited(rejected: &Answer, what: &str) {
    assert_eq!((rejected.status(), rejected.head.header("retry-after")), (429, "1"));
    assert!(rejected.body.contains(what), "{rejected:?}");
}

#[tokio::test]
async fn requests_are_limited_per_principal() {
    let mut server = start(HttpOptions::default().max_requests(3)).await;
    let wait = RawRequest::call(1, "wait").with("authorization", ADA);
    let mut connections = [server.open().await, server.open().await];
    for connection in &mut connections {
        connection.send(&wait).await;
        assert_eq!(server.report().await, "started");
    }
    let request = RawRequest::call(1, "whoami");
    let again = request.clone().with("authorization", ADA);
    assert_limited(&server.request(&again).await, "2 of all requests");
    assert_eq!(server.request(&request.with("authorization", BOB)).await.status(), 200);
    server.release();
    server.release();
    for connection in &mut connections {
        assert_eq!(in_time(connection.answer()).await.status(), 200);
    }
    assert_eq!(server.request(&again).await.status(), 200);
}

#[tokio::test]
async fn sessions_are_limited_per_principal() {
    let options = HttpOptions::default().max_sessions(3).max_sessions_per_principal(1);
    let server = start(options).await;
    let session = server.session(&[("authorization", ADA)]).await;
    let more = RawRequest::initialize().with("authorization", ADA);
    assert_limited(&server.request(&more).await, "1 of all sessions");
    server.session(&[("authorization", BOB)]).await;
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    assert_eq!(server.request(&end.with("authorization", ADA)).await.status(), 204);
    assert_eq!(server.request(&more).await.status(), 200);
}

/// Authentication that never completes.
struct Silent;

impl Authenticate for Silent {
    fn authenticate<'a>(
        &'a self,
        _: Option<&'a str>,
        _: &'a axum::http::request::Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        Box::pin(pending())
    }
}

#[tokio::test]
async fn authentication_times_out() {
    let options = HttpOptions::default().auth(Silent).auth_timeout(Duration::from_millis(50));
    let server = TestServer::start(options).await;
    let rejected = server.request(&RawRequest::call(1, "whoami")).await;
    assert_eq!((rejected.status(), rejected.head.header("retry-after")), (503, "1"));
}

#[tokio::test]
async fn a_session_of_another_principal_is_not_found() {
    let server = start(HttpOptions::default()).await;
    let session = server.session(&[("authorization", ADA)]).await;
    for (name, request) in [
        ("DELETE", RawRequest::new("DELETE", "/mcp").with("mcp-session-id", "x")),
        ("GET", RawRequest::listen("x")),
        ("POST", RawRequest::call_within("x", 1, "whoami")),
    ] {
        let request = request.with("authorization", BOB);
        let [foreign, unknown] = [session.as_str(), "no-such-session"]
            .map(|id| request.clone().with("mcp-session-id", id));
        let (foreign, unknown) = (server.request(&foreign).await, server.request(&unknown).await);
        assert_eq!((foreign.status(), unknown.status()), (404, 404), "{name}");
        assert_eq!(foreign.body, unknown.body, "{name}");
        let kind = |answer: &Answer| answer.head.header("content-type").to_owned();
        assert_eq!(kind(&foreign), kind(&unknown), "{name}");
    }
}
