//! Authentication of requests: fixed headers, and headers from the host.

use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, builder, builder_of, call, in_time, pass_through,
    required, stateful, tools, until,
};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::http::{BearerTokens, HttpOptions};
use tool_runtime::mcp::{McpAuth, McpServerConfig, McpState};
use tool_runtime::prelude::*;
use tool_runtime::{ErrorClass, Secret};

const RIGHT: &str = "right-token-8fQm2x";
const WRONG: &str = "wrong-token-1vXk9p";

fn guarded() -> HttpOptions {
    HttpOptions::default().auth(BearerTokens::parse(&format!("ada:{RIGHT}")).unwrap())
}

#[tokio::test]
async fn an_invalid_token_needs_auth_and_is_not_shown() {
    for intercept in [pass_through as fn(&RecordedRequest) -> Option<Response>, stateful] {
        let remote = RemoteServer::start(&tools(&Probe::new()), guarded(), intercept);
        let pool = ToolPool::builder().build().unwrap();
        let config = McpServerConfig::http(remote.url()).bearer(WRONG);
        let manager = builder_of(config).start(&pool).unwrap();
        let state = until(&manager, |state| matches!(state, McpState::NeedsAuth { .. })).await;
        let text = state.to_string();
        assert!(text.contains("it requires authorization: HTTP 401"), "{text}");
        assert!(text.contains("`auth`"), "{text}");
        assert!(!text.contains(WRONG), "{text}");
    }
}

#[tokio::test]
async fn a_reconnect_with_the_right_token_works() {
    let remote = RemoteServer::start(&tools(&Probe::new()), guarded(), pass_through);
    let pool = ToolPool::builder().build().unwrap();
    let token = Arc::new(Mutex::new(WRONG));
    let current = Arc::clone(&token);
    let manager = builder(&remote.url()).headers("remote", move |_| {
        let value = format!("Bearer {}", current.lock().unwrap());
        async move { Ok(vec![("Authorization".to_owned(), Secret::from(value))]) }
    });
    let manager = manager.start(&pool).unwrap();
    until(&manager, |state| matches!(state, McpState::NeedsAuth { .. })).await;
    *token.lock().unwrap() = RIGHT;
    manager.reconnect("remote").await.unwrap();
    until(&manager, |state| *state == McpState::Ready).await;
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
}

#[tokio::test]
async fn headers_are_computed_for_each_request_and_after_a_rejection() {
    let probe = Probe::new();
    let valid_token = Arc::new(AtomicUsize::new(1));
    let known = Arc::clone(&valid_token);
    let intercept = move |seen: &RecordedRequest| {
        let expected = format!("number {}", known.load(Ordering::Relaxed));
        let challenge = [("www-authenticate", r#"Bearer error="invalid_token""#)];
        let rejected = (StatusCode::UNAUTHORIZED, challenge).into_response();
        (seen.header("x-token") != expected).then_some(rejected)
    };
    let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), intercept);
    let pool = ToolPool::builder().build().unwrap();
    let (number, rejections) = (Arc::new(AtomicUsize::new(1)), Arc::new(Mutex::new(Vec::new())));
    let (counted, received) = (Arc::clone(&number), Arc::clone(&rejections));
    let valid = Arc::clone(&valid_token);
    let manager = builder(&remote.url()).headers("remote", move |request| {
        if let Some(rejected) = request.rejected {
            // The stream of the server's messages may be rejected beside the call.
            counted.store(valid.load(Ordering::Relaxed), Ordering::Relaxed);
            received.lock().unwrap().push(rejected);
        }
        let value = format!("number {}", counted.load(Ordering::Relaxed));
        async move { Ok(vec![("X-Token".to_owned(), Secret::from(value))]) }
    });
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    assert!(rejections.lock().unwrap().is_empty());
    valid_token.store(2, Ordering::Relaxed);
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "2");
    assert!(rejections.lock().unwrap().iter().any(|reason| reason.contains("invalid_token")));
}

#[tokio::test]
async fn a_token_that_is_rejected_later_needs_auth() {
    let token = Arc::new(Mutex::new(RIGHT));
    let known = Arc::clone(&token);
    let intercept = move |seen: &RecordedRequest| {
        let expected = format!("Bearer {}", known.lock().unwrap());
        let rejected = StatusCode::UNAUTHORIZED.into_response();
        (seen.header("authorization") != expected).then_some(rejected)
    };
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), intercept);
    let pool = ToolPool::builder().build().unwrap();
    let config = McpServerConfig::http(remote.url()).bearer(RIGHT);
    let manager = in_time(builder_of(config).connect(&pool)).await.unwrap();
    *token.lock().unwrap() = WRONG;
    let result = call(&pool, "hit", json!({})).await;
    let text = result.error().unwrap().message().to_owned();
    assert!(text.contains("requires authorization"), "{text}");
    until(&manager, |state| matches!(state, McpState::NeedsAuth { .. })).await;
}

#[tokio::test]
async fn a_missing_scope_is_an_error_of_that_call() {
    let intercept = |seen: &RecordedRequest| {
        let challenge = [("www-authenticate", r#"Bearer error="insufficient_scope", scope="hit""#)];
        let rejected = (StatusCode::FORBIDDEN, challenge).into_response();
        (seen.calls("tools/call") && seen.message["params"]["name"] == "hit").then_some(rejected)
    };
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), intercept);
    let (pool, manager) = super::remote_server::connected(&remote).await;
    let result = call(&pool, "hit", json!({})).await;
    let error = result.error().unwrap();
    assert_eq!(error.class(), ErrorClass::Tool);
    assert!(error.message().contains("it requires the scope `hit`"), "{error}");
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
    let place = call(&pool, "place", json!({ "region": "here" })).await;
    assert_eq!(place.observation().to_text(), "here");
}

#[tokio::test]
async fn parts_of_secrets_repeated_by_a_server_are_not_shown() {
    let intercept = |seen: &RecordedRequest| {
        let body = format!("go away, {} {}", seen.header("authorization"), seen.header("x-team"));
        Some((StatusCode::IM_A_TEAPOT, body).into_response())
    };
    let remote = RemoteServer::written(intercept);
    let pool = ToolPool::builder().build().unwrap();
    let url = format!("{}?key=query-4kLm1q", remote.url());
    let config = McpServerConfig::http(url).bearer(RIGHT).header("X-Team", "team-9wRt5e");
    let error =
        in_time(builder_of(config.required(true)).connect(&pool)).await.unwrap_err().to_string();
    assert!(error.contains("HTTP 418") && error.contains("go away"), "{error}");
    for secret in [RIGHT, "team-9wRt5e", "query-4kLm1q"] {
        assert!(!error.contains(secret), "{error}");
    }
}

#[tokio::test]
async fn an_invalid_header_is_rejected_immediately() {
    let pool = ToolPool::builder().build().unwrap();
    let config = McpServerConfig::http("http://127.0.0.1:1/mcp").header("X-Team", "a\nb");
    let error = builder_of(config).start(&pool).unwrap_err();
    assert!(error.to_string().contains("headers.X-Team"), "{error}");

    let failing = required("http://127.0.0.1:1/mcp")
        .headers("remote", |_| async { Err("the keys are lost".into()) });
    let error = in_time(failing.connect(&pool)).await.unwrap_err().to_string();
    assert!(error.contains("no headers are given for it: the keys are lost"), "{error}");
}

#[tokio::test]
async fn user_and_password_use_basic_authentication() {
    let intercept = |seen: &RecordedRequest| {
        let rejected = StatusCode::UNAUTHORIZED.into_response();
        (seen.header("authorization") != "Basic YWRhOjhmUW0yeA==").then_some(rejected)
    };
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), intercept);
    let pool = ToolPool::builder().build().unwrap();
    let auth = McpAuth::Basic { user: "ada".into(), password: "8fQm2x".into() };
    let config = McpServerConfig::http(remote.url()).auth(auth);
    let manager = in_time(builder_of(config).connect(&pool)).await.unwrap();
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
}

#[tokio::test]
async fn text_repeated_by_a_server_shows_no_secret() {
    type Answer = fn(&str) -> Response;
    let answers: [Answer; 4] = [
        |secret| {
            let kind = format!("text/x-{}", secret.replace(' ', "_"));
            ([("content-type", kind)], "x").into_response()
        },
        |secret| ([("content-type", format!("text/plain; x={secret}"))], "x").into_response(),
        |secret| {
            let after = [("retry-after", secret.to_owned())];
            (StatusCode::SERVICE_UNAVAILABLE, after).into_response()
        },
        |secret| (StatusCode::IM_A_TEAPOT, format!("\u{1b}[31m{secret}\u{202e}")).into_response(),
    ];
    for answer in answers {
        let remote = RemoteServer::written(move |seen| Some(answer(seen.header("authorization"))));
        let with_user = remote.url().replace("http://", "http://ada:pass%2Dword@");
        for (config, secrets) in [
            (McpServerConfig::http(remote.url()).bearer(RIGHT), [RIGHT, RIGHT]),
            (McpServerConfig::http(with_user), ["pass-word", "YWRhOnBhc3Mtd29yZA=="]),
        ] {
            let pool = ToolPool::builder().build().unwrap();
            let error = in_time(builder_of(config.required(true)).connect(&pool))
                .await
                .unwrap_err()
                .to_string();
            assert!(!secrets.iter().any(|secret| error.contains(secret)), "{error}");
            assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error}");
        }
    }
}

#[tokio::test]
async fn a_header_source_receives_the_url_without_secrets() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
    let pool = ToolPool::builder().build().unwrap();
    let url = remote.url().replace("http://", "http://ada:8fQm2x@");
    let report = Arc::new(Mutex::new(String::new()));
    let reported = Arc::clone(&report);
    let manager =
        builder(&format!("{url}?key=query-4kLm1q#part")).headers("remote", move |request| {
            *reported.lock().unwrap() = request.url;
            async { Ok(Vec::new()) }
        });
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    assert_eq!(*report.lock().unwrap(), remote.url());
}

#[tokio::test]
async fn a_header_source_cannot_set_headers_of_the_transport() {
    for name in ["Host", "Content-Length", "Transfer-Encoding", "Mcp-Method", "Accept"] {
        let pool = ToolPool::builder().build().unwrap();
        let remote =
            RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
        let manager = required(&remote.url()).headers("remote", move |_| async move {
            Ok(vec![(name.to_owned(), Secret::from("5"))])
        });
        let error = in_time(manager.connect(&pool)).await.unwrap_err().to_string();
        assert!(error.contains("is set by the transport itself"), "{name}: {error}");
        assert_eq!(remote.count(|_| true), 0);
    }
}
