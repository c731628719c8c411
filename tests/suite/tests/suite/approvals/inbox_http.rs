//! The inbox over HTTP, for people with tokens.

use super::inbox::question;
use super::{Removed, builder, remove_call};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use tool_runtime::approvals::{Inbox, MemoryStore, router};
use tool_runtime::{BearerTokens, Principal};
use tower::ServiceExt as _;

const ADA: &str = "8fQm2x1vXk9p8fQm";
const GRACE: &str = "x1vXk9p8fQm28fQm";

async fn send(
    app: &axum::Router,
    (method, path): (&str, &str),
    token: &str,
    body: Value,
) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = match token {
        "" => request,
        token => request.header("authorization", format!("Bearer {token}")),
    };
    let body = Body::from(if body.is_null() { String::new() } else { body.to_string() });
    let response = app.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn people_with_tokens_read_and_answer_questions() {
    let (removed, store) = (Removed::default(), MemoryStore::new());
    let people = BearerTokens::parse(&format!("ada:{ADA}\ngrace:{GRACE}")).unwrap();
    let app = router(Arc::new(store.clone()), people);
    let pool =
        builder(&removed, |decision| decision).approver(Inbox::new(store.clone())).build().unwrap();
    let pool = pool.for_principal(Principal::new("ada"));
    let yes = || json!({ "is_approved": true, "by": "the queen" });
    let person = async {
        let id = question(&store).await.request.id;
        let path = format!("/approvals/{id}");
        for token in ["", "wrong"] {
            for request in [("GET", "/approvals"), ("GET", &*path), ("POST", &*path)] {
                let (status, body) = send(&app, request, token, yes()).await;
                assert_eq!(status, StatusCode::UNAUTHORIZED);
                assert!(!body.to_string().contains("remove"));
            }
        }
        let (status, all) = send(&app, ("GET", "/approvals"), ADA, Value::Null).await;
        assert_eq!((status, &all["approvals"][0]["id"]), (StatusCode::OK, &json!(id)));
        assert!(!all.to_string().contains("hunter2"), "{all}");
        let (status, _) = send(&app, ("POST", &path), ADA, yes()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "the caller does not approve its own call");
        let (status, _) = send(&app, ("POST", &path), GRACE, json!({ "is": 1 })).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        let (status, _) = send(&app, ("POST", &path), GRACE, yes()).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        let unknown = format!("/approvals/{}", "0".repeat(32));
        let (status, _) = send(&app, ("POST", &unknown), GRACE, yes()).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    };
    let (result, ()) = tokio::join!(pool.call(remove_call("a")), person);
    assert_eq!(result.observation().to_text(), "removed a");
}
