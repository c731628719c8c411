//! The inbox over HTTP, for people with tokens.

use super::*;
use crate::tests::{asked, request, yes};
use crate::{Inbox, MemoryStore, PendingApproval};
use axum::body::{Body, to_bytes};
use serde_json::Value;
use std::time::Duration;
use tool_runtime_core::govern::{Approval, Approver};
use tool_runtime_server::BearerTokens;
use tower::ServiceExt as _;

const ADA: &str = "8fQm2x1vXk9p8fQm";
const GRACE: &str = "x1vXk9p8fQm28fQm";

async fn send(
    app: &Router,
    (method, path): (&str, &str),
    authorization: &str,
    body: &str,
) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = match authorization {
        "" => request,
        authorization => request.header(header::AUTHORIZATION, authorization),
    };
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = app.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn people_with_tokens_read_and_answer_questions() {
    let store = MemoryStore::new();
    let people = BearerTokens::parse(&format!("ada:{ADA}\ngrace:{GRACE}")).unwrap();
    let app = router(Arc::new(store.clone()), people);
    let (ada, grace) = (format!("Bearer {ADA}"), format!("bearer {GRACE}"));
    let (inbox, request) = (Inbox::new(store.clone()), request("a"));
    let yes = r#"{ "is_approved": true, "by": "the queen" }"#;
    let person = async {
        let id = asked(&store).await.id;
        let path = format!("/approvals/{id}");
        for wrong in ["", "Bearer wrong", ADA, &format!("Basic {ADA}")] {
            for asks in [("GET", "/approvals"), ("GET", &*path), ("POST", &*path)] {
                let (status, body) = send(&app, asks, wrong, yes).await;
                assert_eq!(status, StatusCode::UNAUTHORIZED, "{wrong}");
                assert!(!body.to_string().contains("remove"), "{body}");
            }
        }
        let (status, all) = send(&app, ("GET", "/approvals"), &ada, "").await;
        assert_eq!((status, &all["approvals"][0]["id"]), (StatusCode::OK, &json!(id)));
        let (status, one) = send(&app, ("GET", &path), &ada, "").await;
        assert_eq!((status, &one["question"]), (StatusCode::OK, &json!("Remove it?")));
        let unknown = format!("/approvals/{}", "0".repeat(32));
        let long = format!(r#"{{ "is_approved": true, "reason": "{}" }}"#, "x".repeat(MAX_ANSWER));
        for (authorization, path, body, expected) in [
            // A caller does not approve its own call.
            (&ada, &path, yes, StatusCode::FORBIDDEN),
            (&grace, &path, r#"{ "is": 1 }"#, StatusCode::BAD_REQUEST),
            (&grace, &path, &long, StatusCode::PAYLOAD_TOO_LARGE),
            (&grace, &unknown, yes, StatusCode::NOT_FOUND),
            (&grace, &path, yes, StatusCode::NO_CONTENT),
        ] {
            let (status, answer) = send(&app, ("POST", path), authorization, body).await;
            assert_eq!(status, expected, "{answer}");
        }
    };
    let (answer, ()) = tokio::join!(inbox.approve(&request), person);
    assert_eq!(answer, Approval::approved().by("grace"));
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_told_why() {
    let (store, pending) = (MemoryStore::new(), request("a"));
    let people = BearerTokens::parse(&format!("grace:{GRACE}")).unwrap();
    let app = router(Arc::new(store.clone()), people);
    let open = async || {
        let pending = PendingApproval::new(&pending, Duration::from_secs(60));
        store.open(pending).await.unwrap().request.id
    };
    let (answered, expired) = (open().await, open().await);
    store.answer(&answered, yes()).await.unwrap();
    store.expire(&expired).await.unwrap();
    for (id, expected, text) in [
        (answered, StatusCode::CONFLICT, "it was approved by grace at"),
        (expired, StatusCode::GONE, "has expired"),
    ] {
        let path = format!("/approvals/{id}");
        let answer = r#"{ "is_approved": true }"#;
        let (status, body) = send(&app, ("POST", &path), &format!("Bearer {GRACE}"), answer).await;
        assert_eq!(status, expected);
        assert!(body["error"].as_str().unwrap().contains(text), "{body}");
    }
}

#[tokio::test]
async fn a_rejection_for_a_scope_names_its_caller_to_the_log() {
    let people = BearerTokens::parse(&format!("ada:{ADA}")).unwrap();
    let routes = InboxRoutes::new(Arc::new(MemoryStore::new()), people).scope("approve");
    let request = Request::get("/approvals").header(header::AUTHORIZATION, format!("Bearer {ADA}"));
    let request = request.body(Body::empty()).unwrap();
    let response = routes.into_router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let person = response.extensions().get::<Arc<Principal>>().expect("a caller");
    assert_eq!(person.id(), "ada");
}

#[tokio::test]
async fn a_question_whose_call_is_gone_is_listed_as_such_and_takes_no_answer() {
    let directory = tempfile::tempdir().unwrap();
    let open = || crate::FileStore::open(directory.path()).unwrap();
    let asked = PendingApproval::new(&request("a"), Duration::from_secs(60));
    // Its lock ends with the store.
    let id = open().open(asked).await.unwrap().request.id;
    let people = BearerTokens::parse(&format!("grace:{GRACE}")).unwrap();
    let (app, grace) = (router(Arc::new(open()), people), format!("Bearer {GRACE}"));
    let (_, all) = send(&app, ("GET", "/approvals"), &grace, "").await;
    assert_eq!(all["approvals"][0]["is_abandoned"], true);
    let path = format!("/approvals/{id}");
    let (status, body) = send(&app, ("POST", &path), &grace, r#"{ "is_approved": true }"#).await;
    let text = format!("`{id}`: the call is gone: its process has ended; nothing runs");
    assert_eq!((status, &body["error"]), (StatusCode::GONE, &json!(text)));
}
