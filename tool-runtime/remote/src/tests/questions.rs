//! Questions, progress and logs cross the hop.

use super::fleet::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tool_runtime_core::tool::peer::{
    Answer, LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerRequest, Progress,
};
use tool_runtime_core::tool::{Tool, ToolCall, ToolContext};
use tool_runtime_core::vocabulary::BoxFuture;

/// A client that accepts every question after a while, and keeps what it is told.
#[derive(Default)]
struct Client {
    delay: Duration,
    progress: Mutex<Vec<f64>>,
    log: Mutex<Vec<String>>,
    asked: Mutex<Vec<String>>,
}

impl Peer for Client {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress.done);
    }

    fn accepts_log(&self, level: LogLevel) -> bool {
        level >= LogLevel::Info
    }

    fn log(&self, entry: LogEntry) {
        self.log.lock().unwrap().push(entry.data.to_string());
    }

    fn can(&self, capability: PeerCapability) -> bool {
        capability == PeerCapability::Elicitation
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.key().to_owned());
            tokio::time::sleep(self.delay).await;
            Ok(json!({ "action": "accept", "content": { request.key(): true } }))
        })
    }
}

fn delete() -> Tool {
    Tool::builder("delete", "Delete it.").handler(
        |_: serde_json::Map<String, Value>, context: ToolContext| async move {
            for step in 1..=3 {
                context.progress(step, 3, "deleting");
                context.log(LogLevel::Info, format_args!("step {step}"));
                context.log(LogLevel::Debug, "nobody wants this");
            }
            match context.ask::<bool>("sure", "Really?").await {
                Ok(Answer::Accepted(true)) => "deleted".to_owned(),
                other => format!("{other:?}"),
            }
        },
    )
}

async fn delete_with(client: &Arc<Client>) -> String {
    let fleet = Fleet::new();
    let _runner = fleet.run([delete()]);
    let (pool, _remote) = fleet.connect().await;
    let peer: Arc<dyn Peer> = Arc::clone(client) as _;
    let context = pool.context().with_peer(peer);
    text(&pool.call_with(ToolCall::new("delete", "{}"), &context).await)
}

#[tokio::test(start_paused = true)]
async fn a_question_reaches_the_client_of_the_caller_and_its_answer_the_tool() {
    let client = Arc::new(Client::default());
    assert_eq!(delete_with(&client).await, "deleted");
    assert_eq!(*client.progress.lock().unwrap().last().unwrap(), 3.0);
    let log = client.log.lock().unwrap().join(" ");
    assert_eq!(log, r#""step 1" "step 2" "step 3""#);
    assert_eq!(*client.asked.lock().unwrap(), ["sure"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_thinks_for_long_is_asked_once() {
    let client = Arc::new(Client { delay: Duration::from_secs(60), ..Client::default() });
    assert_eq!(delete_with(&client).await, "deleted");
    assert_eq!(client.asked.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_learns_that_nobody_can_be_asked() {
    let fleet = Fleet::new();
    let _runner = fleet.run([delete()]);
    let (pool, _remote) = fleet.connect().await;
    let result = text(&call(&pool, "delete").await);
    assert!(result.contains("the client cannot ask its user"), "{result}");
}
