//! Tools that a server runs only as tasks.

use super::super::support::ProgressRecorder;
use super::remote_server::{RecordedRequest, RemoteServer, builder, call, in_time, open};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tool_runtime::mcp::McpManager;
use tool_runtime::prelude::*;
use tool_runtime::{
    BoxFuture, ErrorClass, HttpOptions, Peer, PeerCapability, PeerError, PeerRequest,
};

/// Reports the progress of a task to a test.
#[derive(Default)]
struct Tub {
    started: Notify,
    emptied: Notify,
}

struct Full<'a>(&'a Tub);

impl Drop for Full<'_> {
    fn drop(&mut self) {
        self.0.emptied.notify_one();
    }
}

/// Wash something, until the test releases it.
#[tool(register = false, task = "required", progress)]
async fn wash(
    context: &ToolContext,
    /// What.
    what: String,
) -> String {
    context.progress(1, 2, "soaking");
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    format!("clean {what}")
}

/// Fail after the task has started.
#[tool(register = false, task = "required")]
async fn tear() -> Result<String, ToolError> {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    Err(ToolError::user("it is torn"))
}

/// Ask before it starts.
#[tool(register = false, task = "required")]
async fn bleach(context: &ToolContext) -> Result<String, PeerError> {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(if sure.accepted() == Some(true) { "white" } else { "as it was" }.to_owned())
}

/// Never finish.
#[tool(register = false, task = "required")]
async fn soak(tub: &Arc<Tub>) -> String {
    let _full = Full(tub);
    tub.started.notify_one();
    std::future::pending().await
}

fn laundry(tub: &Arc<Tub>) -> ToolPool {
    let builder = ToolPool::builder().tool::<WashAction>().tool::<TearAction>();
    let builder = builder.tool::<BleachAction>().tool::<SoakAction>();
    builder.state(Arc::clone(tub)).build().unwrap()
}

fn started(
    tub: &Arc<Tub>,
    gate: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
) -> RemoteServer {
    RemoteServer::start(&laundry(tub), HttpOptions::default(), gate)
}

/// Accepts each question, and counts them.
#[derive(Default)]
struct Sure(Mutex<usize>);

impl Peer for Sure {
    fn can(&self, capability: PeerCapability) -> bool {
        capability == PeerCapability::Elicitation
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        assert_eq!(request.params()["message"], "Sure?");
        *self.0.lock().unwrap() += 1;
        Box::pin(async { Ok(json!({ "action": "accept", "content": { "sure": true } })) })
    }
}

async fn connected(remote: &RemoteServer) -> (ToolPool, McpManager) {
    let pool = ToolPool::builder().build().unwrap();
    let manager = builder(&remote.url()).ask_callers().connect(&pool);
    let manager = in_time(manager).await.unwrap();
    (pool, manager)
}

#[tokio::test]
async fn a_call_waits_until_its_task_is_done() {
    let remote = started(&Arc::default(), open);
    let (pool, _manager) = connected(&remote).await;
    let bar = Arc::new(ProgressRecorder::default());
    let context = pool.context().with_peer(bar.clone());
    let shirt = ToolCall::new("remote.wash", r#"{"what": "shirt"}"#);
    let washed = in_time(pool.call_with(shirt, &context)).await;
    assert_eq!(washed.observation().to_text(), "clean shirt", "{washed:?}");
    let report: Vec<_> = bar.0.lock().unwrap().iter().map(|one| one.message.clone()).collect();
    assert_eq!(report, [Some("soaking".to_owned())]);
    // The tool is now known to need a task.
    let calls = |seen: &RecordedRequest| seen.calls("tools/call");
    let before = remote.count(calls);
    call(&pool, "wash", json!({ "what": "sock" })).await;
    assert_eq!(remote.count(calls), before + 1);

    let torn = call(&pool, "tear", json!({})).await;
    assert!(torn.observation().is_error(), "{torn:?}");
    assert_eq!(torn.observation().to_text(), "it is torn");
}

#[tokio::test]
async fn a_question_of_a_task_is_answered_once() {
    let remote = started(&Arc::default(), open);
    let (pool, _manager) = connected(&remote).await;
    let sure = Arc::new(Sure::default());
    let context = pool.context().with_peer(sure.clone());
    let white = in_time(pool.call_with(ToolCall::new("remote.bleach", "{}"), &context)).await;
    assert_eq!(white.observation().to_text(), "white", "{white:?}");
    assert_eq!(*sure.0.lock().unwrap(), 1);
    // Without a user, the question is declined.
    let declined = call(&pool, "bleach", json!({})).await;
    assert_eq!(declined.observation().to_text(), "as it was", "{declined:?}");
}

#[tokio::test]
async fn a_task_without_a_waiter_is_cancelled() {
    let tub = Arc::new(Tub::default());
    let remote = started(&tub, open);
    let (pool, _manager) = connected(&remote).await;
    tokio::select! {
        _ = pool.call(ToolCall::new("remote.soak", "{}")) => panic!("it soaks"),
        () = async {
            in_time(tub.started.notified()).await;
            // The task is unknown before its call is answered.
            while remote.count(|seen| seen.calls("tasks/get")) == 0 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    in_time(tub.emptied.notified()).await;
}

#[tokio::test]
async fn a_task_outlives_a_connection() {
    let lost = AtomicBool::new(false);
    let remote = started(&Arc::default(), move |seen| {
        let is_first = seen.calls("tasks/get") && !lost.swap(true, Ordering::Relaxed);
        is_first.then(|| StatusCode::BAD_GATEWAY.into_response())
    });
    let (pool, _manager) = connected(&remote).await;
    let washed = call(&pool, "wash", json!({ "what": "shirt" })).await;
    assert_eq!(washed.observation().to_text(), "clean shirt", "{washed:?}");
}

#[tokio::test]
async fn a_forgotten_task_may_have_run() {
    let remote = started(&Arc::default(), |seen| {
        let answer = |id: &Value| seen.error(200, id, -32602, "no such task");
        seen.calls("tasks/get").then(|| answer(&seen.message["id"]))
    });
    let (pool, _manager) = connected(&remote).await;
    let lost = call(&pool, "wash", json!({ "what": "shirt" })).await;
    let error = lost.error().expect("it is lost");
    assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
    assert!(error.message().contains("no such task"), "{error}");
}
