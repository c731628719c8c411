//! Tools that a server runs only as tasks.

use super::super::support::ProgressRecorder;
use super::remote_server::{RecordedRequest, RemoteServer, builder, call, in_time, pass_through};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpManager;
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, ErrorClass};

/// Reports the progress of a task to a test.
#[derive(Default)]
struct TaskProbe {
    started: Notify,
    dropped: Notify,
    /// The client has asked for a task.
    asked: Notify,
}

struct NotifyOnDrop<'a>(&'a TaskProbe);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Return the argument when the client asks for the task.
#[tool(register = false, task = "required", progress)]
async fn run_job(
    context: &ToolContext,
    probe: &Arc<TaskProbe>,
    /// The text.
    what: String,
) -> String {
    context.progress(1, 2, "working");
    probe.asked.notified().await;
    format!("done {what}")
}

/// Fail after the task has started.
#[tool(register = false, task = "required")]
async fn fail(probe: &Arc<TaskProbe>) -> Result<String, ToolError> {
    probe.asked.notified().await;
    Err(ToolError::user("it failed"))
}

/// Ask when the client asks for the task.
#[tool(register = false, task = "required")]
async fn confirm(context: &ToolContext, probe: &Arc<TaskProbe>) -> Result<String, PeerError> {
    probe.asked.notified().await;
    let answer = context.ask::<bool>("sure", "Sure?").await?;
    Ok(if answer.accepted() == Some(true) { "confirmed" } else { "as it was" }.to_owned())
}

/// Never finish.
#[tool(register = false, task = "required")]
async fn run_forever(probe: &Arc<TaskProbe>) -> String {
    let _guard = NotifyOnDrop(probe);
    probe.started.notify_one();
    std::future::pending().await
}

fn task_pool(probe: &Arc<TaskProbe>) -> ToolPool {
    let builder = ToolPool::builder().tool::<RunJobAction>().tool::<FailAction>();
    let builder = builder.tool::<ConfirmAction>().tool::<RunForeverAction>();
    builder.state(Arc::clone(probe)).build().unwrap()
}

fn started(
    probe: &Arc<TaskProbe>,
    intercept: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
) -> RemoteServer {
    let asked = Arc::clone(probe);
    RemoteServer::start(&task_pool(probe), HttpOptions::default(), move |seen| {
        if seen.calls("tasks/get") {
            asked.asked.notify_waiters();
        }
        intercept(seen)
    })
}

/// Accepts each question, and counts them.
#[derive(Default)]
struct AcceptAll(Mutex<usize>);

impl Peer for AcceptAll {
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
    let remote = started(&Arc::default(), pass_through);
    let (pool, _manager) = connected(&remote).await;
    let recorder = Arc::new(ProgressRecorder::default());
    let context = pool.context().with_peer(recorder.clone());
    let a = ToolCall::new("remote.run_job", r#"{"what": "a"}"#);
    let result = in_time(pool.call_with(a, &context)).await;
    assert_eq!(result.observation().to_text(), "done a", "{result:?}");
    let report: Vec<_> = recorder.0.lock().unwrap().iter().map(|one| one.message.clone()).collect();
    assert_eq!(report, [Some("working".to_owned())]);
    // The tool is now known to need a task.
    let calls = |seen: &RecordedRequest| seen.calls("tools/call");
    let before = remote.count(calls);
    call(&pool, "run_job", json!({ "what": "b" })).await;
    assert_eq!(remote.count(calls), before + 1);

    let failed = call(&pool, "fail", json!({})).await;
    assert!(failed.observation().is_error(), "{failed:?}");
    assert_eq!(failed.observation().to_text(), "it failed");
}

#[tokio::test]
async fn a_question_of_a_task_is_answered_once() {
    let remote = started(&Arc::default(), pass_through);
    let (pool, _manager) = connected(&remote).await;
    let peer = Arc::new(AcceptAll::default());
    let context = pool.context().with_peer(peer.clone());
    let confirmed = in_time(pool.call_with(ToolCall::new("remote.confirm", "{}"), &context)).await;
    assert_eq!(confirmed.observation().to_text(), "confirmed", "{confirmed:?}");
    assert_eq!(*peer.0.lock().unwrap(), 1);
    // Without a user, the question is declined.
    let declined = call(&pool, "confirm", json!({})).await;
    assert_eq!(declined.observation().to_text(), "as it was", "{declined:?}");
}

#[tokio::test]
async fn a_task_without_a_waiter_is_cancelled() {
    let probe = Arc::new(TaskProbe::default());
    let remote = started(&probe, pass_through);
    let (pool, _manager) = connected(&remote).await;
    tokio::select! {
        _ = pool.call(ToolCall::new("remote.run_forever", "{}")) => panic!("it never ends"),
        () = async {
            in_time(probe.started.notified()).await;
            // The task is unknown before its call is answered.
            while remote.count(|seen| seen.calls("tasks/get")) == 0 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    in_time(probe.dropped.notified()).await;
}

#[tokio::test]
async fn a_task_outlives_a_connection() {
    let has_failed = AtomicBool::new(false);
    let remote = started(&Arc::default(), move |seen| {
        let is_first = seen.calls("tasks/get") && !has_failed.swap(true, Ordering::Relaxed);
        is_first.then(|| StatusCode::BAD_GATEWAY.into_response())
    });
    let (pool, _manager) = connected(&remote).await;
    let result = call(&pool, "run_job", json!({ "what": "a" })).await;
    assert_eq!(result.observation().to_text(), "done a", "{result:?}");
}

#[tokio::test]
async fn a_forgotten_task_may_have_run() {
    let remote = started(&Arc::default(), |seen| {
        let answer = |id: &Value| seen.error(200, id, -32602, "no such task");
        seen.calls("tasks/get").then(|| answer(&seen.message["id"]))
    });
    let (pool, _manager) = connected(&remote).await;
    let result = call(&pool, "run_job", json!({ "what": "a" })).await;
    let error = result.error().expect("it is lost");
    assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
    assert!(error.message().contains("no such task"), "{error}");
}
