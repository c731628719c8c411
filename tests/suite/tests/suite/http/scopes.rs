//! Tools with scopes: callers without them get a challenge, and do not see the tools.

use super::client::{Answer, RawRequest};
use super::test_server::TestServer;
use serde_json::{Value, json};
use std::future::ready;
use std::sync::{Arc, Mutex};
use tool_runtime::govern::{CallEvent, CallStage, Receipt, Recorder};
use tool_runtime::http::{AuthRejection, Authenticate, BearerTokens, HttpOptions};
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, Principal};

/// Delete all notes.
#[tool(register = false, destructive, scope("notes:read", "notes:write"))]
async fn clear_notes() -> &'static str {
    "cleared"
}

/// Call `clear_notes`.
#[tool(register = false)]
async fn relay(context: &ToolContext) -> String {
    context.call(ToolCall::new("clear_notes", "{}")).await.observation().to_text()
}

fn options() -> HttpOptions {
    let tokens = BearerTokens::parse(
        "ada:t-1 scopes=notes:read,notes:write\nbob:t-2 scopes=notes:read\nt-3",
    );
    HttpOptions::default()
        .auth(tokens.expect("tokens"))
        .resource_metadata("https://example.com/metadata")
}

async fn served(options: HttpOptions) -> TestServer {
    TestServer::start_with(options, |pool| pool.tool::<ClearNotesAction>().tool::<RelayAction>())
        .await
}

fn with_token(request: RawRequest, token: &str) -> RawRequest {
    request.with("authorization", &format!("Bearer {token}"))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().expect("tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn assert_challenged(answer: &Answer, scopes: &str) {
    assert_eq!(answer.status(), 403, "{answer:?}");
    assert_eq!(
        answer.head.header("www-authenticate"),
        format!(
            r#"Bearer realm="mcp", error="insufficient_scope", scope="{scopes}", resource_metadata="https://example.com/metadata""#
        )
    );
}

#[tokio::test]
async fn a_caller_without_the_scopes_is_challenged() {
    let served = served(options()).await;
    let call = RawRequest::call(1, "clear_notes");
    let allowed = served.request(&with_token(call.clone(), "t-1")).await;
    assert_eq!(text(&allowed.json()), "cleared");
    assert_challenged(&served.request(&with_token(call.clone(), "t-2")).await, "notes:write");
    assert_challenged(&served.request(&with_token(call, "t-3")).await, "notes:read notes:write");
    let echo = with_token(RawRequest::call(1, "whoami"), "t-3");
    assert_eq!(text(&served.request(&echo).await.json()), "#3");
}

#[tokio::test]
async fn a_session_is_challenged_and_lists_less() {
    let served = served(options()).await;
    for (token, is_allowed) in [("t-1", true), ("t-2", false)] {
        let session = served.session(&[("authorization", &format!("Bearer {token}"))]).await;
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let list = served.request(&with_token(RawRequest::within(&session, &list), token)).await;
        assert_eq!(names(&list.last_event()).contains(&"clear_notes"), is_allowed, "{token}");
        let call = with_token(RawRequest::call_within(&session, 2, "clear_notes"), token);
        let answer = served.request(&call).await;
        match is_allowed {
            true => assert_eq!(text(&answer.last_event()), "cleared"),
            false => assert_challenged(&answer, "notes:write"),
        }
    }
}

#[tokio::test]
async fn a_nested_call_has_the_scopes_of_its_caller() {
    let served = served(options()).await;
    let relay = RawRequest::call(1, "relay");
    assert_eq!(text(&served.request(&with_token(relay.clone(), "t-1")).await.json()), "cleared");
    let denied = served.request(&with_token(relay, "t-2")).await.json();
    assert_eq!(
        text(&denied),
        "`clear_notes` needs the scope `notes:write`, which the caller lacks"
    );
}

/// Accepts every client as anonymous.
struct Guests;

impl Authenticate for Guests {
    fn authenticate<'a>(
        &'a self,
        _: Option<&'a str>,
        _: &'a axum::http::request::Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
        Box::pin(ready(Ok(Principal::anonymous())))
    }
}

#[tokio::test]
async fn a_guest_is_asked_to_authenticate_and_a_local_caller_is_not() {
    let guests = served(HttpOptions::default().auth(Guests)).await;
    let answer = guests.request(&RawRequest::call(1, "clear_notes")).await;
    assert_eq!(answer.status(), 401);
    let challenge = answer.head.header("www-authenticate").to_owned();
    assert_eq!(challenge, r#"Bearer realm="mcp", scope="notes:read notes:write""#);
    let relayed = guests.request(&RawRequest::call(1, "relay")).await.json();
    assert!(text(&relayed).contains("needs the scopes `notes:read`, `notes:write`"), "{relayed}");

    let open = served(HttpOptions::default()).await;
    let answer = open.request(&RawRequest::call(1, "clear_notes")).await;
    assert_eq!(text(&answer.json()), "cleared");
}

/// Records the outcomes of calls by principal and tool.
#[derive(Clone, Default)]
struct Outcomes(Arc<Mutex<Vec<String>>>);

impl Recorder for Outcomes {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if let CallStage::Finished { outcome, .. } = event.stage {
            let outcome =
                outcome.map_or_else(|error| format!("{:?}", error.class()), |_| "done".into());
            let line = format!("{} {} {outcome}", event.call.principal().id(), event.call.name());
            self.0.lock().expect("no panic").push(line);
        }
        Receipt::recorded()
    }
}

#[tokio::test]
async fn a_challenged_call_is_recorded() {
    let outcomes = Outcomes::default();
    let recorder = outcomes.clone();
    let served = TestServer::start_with(options(), |pool| {
        pool.tool::<ClearNotesAction>().recorder(recorder)
    })
    .await;
    served.request(&with_token(RawRequest::call(1, "clear_notes"), "t-2")).await;
    served.request(&with_token(RawRequest::call(1, "clear_notes"), "t-1")).await;
    assert_eq!(
        *outcomes.0.lock().expect("no panic"),
        ["bob clear_notes Denied", "ada clear_notes done"]
    );
}
