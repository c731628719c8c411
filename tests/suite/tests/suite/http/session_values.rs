//! Toolsets with one value per session.

use super::client::RawRequest;
use super::test_server::TestServer;
use crate::toolset_values::{Ledger, PerSession};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tool_runtime::http::HttpOptions;
use tool_runtime::prelude::*;

#[tokio::test]
async fn a_session_has_its_own_value_until_it_ends() {
    let ledger = Arc::new(Ledger::default());
    let builder = ToolPool::builder().state(Arc::clone(&ledger)).toolset::<PerSession>(());
    let server = TestServer::start_with(HttpOptions::default(), |_| builder).await;
    let sessions = [server.session(&[]).await, server.session(&[]).await];
    for session in &sessions {
        let call = RawRequest::call_within(session, 1, "tab.call");
        for (request, count) in [(call.clone(), "1"), (call.through_rmcp(), "2")] {
            let answer = server.request(&request).await.last_event();
            assert_eq!(answer["result"]["content"][0]["text"], count, "{answer}");
        }
    }
    assert_eq!(ledger.made.load(Ordering::SeqCst), 2, "one per session");
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &sessions[0]);
    assert_eq!(server.request(&end).await.status(), 204);
    ledger.closed(1).await;
    let alone = server.request(&RawRequest::call(1, "tab.call")).await;
    assert!(alone.body.contains("need a session"), "{alone:?}");
    assert_eq!(ledger.made.load(Ordering::SeqCst), 2);
}
