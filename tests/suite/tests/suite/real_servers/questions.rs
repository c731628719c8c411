//! Questions and progress of a real server, and its tools for clients that can
//! be asked.

use super::super::support::in_time;
use super::fixture::{Fixture, manager_builder};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use suite::peers::Server;
use tool_runtime::BoxFuture;
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest, Progress};
use tool_runtime::prelude::*;

/// A host with a user, a model and a root.
#[derive(Default)]
struct Host(Mutex<Vec<Progress>>);

impl Peer for Host {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }

    fn can(&self, capability: PeerCapability) -> bool {
        capability != PeerCapability::ElicitationUrl
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        let answer = match request.capability() {
            PeerCapability::Elicitation => {
                json!({ "action": "accept", "content": { "name": "Ada", "check": true } })
            }
            PeerCapability::Sampling => json!({
                "role": "assistant",
                "content": { "type": "text", "text": "Gladly." },
                "model": "abacus",
                "stopReason": "endTurn",
            }),
            _ => json!({ "roots": [{ "uri": "file:///srv/maps", "name": "maps" }] }),
        };
        Box::pin(async { Ok(answer) })
    }
}

async fn text(pool: &ToolPool, name: &str, arguments: Value) -> String {
    pool.call(ToolCall::new(name, arguments.to_string())).await.observation().to_text()
}

/// The server lists these tools after it has received the capabilities of the client, and notifies
/// of the change.
#[tokio::test]
async fn a_server_asks_the_peer_with_the_capability() {
    let fixture = Fixture::new("questions");
    let pool = ToolPool::builder().build().unwrap();
    let mut changes = pool.changes();
    let builder = manager_builder().server("it", fixture.server(Server::Everything));
    let manager = builder.peer(Arc::new(Host::default())).connect(&pool).await.unwrap();
    while pool.get("it.trigger-sampling-request").is_none() {
        in_time(changes.next()).await.unwrap();
    }
    let answer = text(&pool, "it.trigger-elicitation-request", json!({})).await;
    assert!(answer.contains("- Name: Ada") && answer.contains("Agreed to terms: true"), "{answer}");
    let answer =
        text(&pool, "it.trigger-sampling-request", json!({ "prompt": "Would you?" })).await;
    assert!(answer.contains("Gladly.") && answer.contains("abacus"), "{answer}");
    let answer = text(&pool, "it.get-roots-list", json!({})).await;
    assert!(answer.contains("file:///srv/maps"), "{answer}");
    assert!(pool.get("it.trigger-url-elicitation").is_none(), "the host shows no pages");
    manager.close().await;
}

#[tokio::test]
async fn a_long_call_reports_progress() {
    let fixture = Fixture::new("progress");
    let pool = ToolPool::builder().build().unwrap();
    let builder = manager_builder().server("it", fixture.server(Server::Everything));
    let manager = builder.connect(&pool).await.unwrap();
    let host = Arc::new(Host::default());
    let context = pool.context().with_peer(host.clone());
    let arguments = json!({ "duration": 0.4, "steps": 4 });
    let call = ToolCall::new("it.trigger-long-running-operation", arguments.to_string());
    let result = pool.call_with(call, &context).await;
    assert!(result.observation().to_text().contains("Steps: 4"), "{result:?}");
    manager.close().await;
    let received = host.0.lock().unwrap();
    let received: Vec<_> =
        received.iter().map(|progress| (progress.done, progress.total)).collect();
    assert_eq!(received, [1.0, 2.0, 3.0, 4.0].map(|done| (done, Some(4.0))));
}
