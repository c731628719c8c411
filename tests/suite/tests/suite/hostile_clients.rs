//! Protection of a server against hostile clients and faulty tools.

use super::questions::answering;
use super::support::pool_of;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tool_runtime::ErrorClass;
use tool_runtime::peer::Answer;
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

/// A client that supports tasks.
async fn task_client(pool: &ToolPool) -> TestClient {
    let capabilities = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    TestClient::builder(pool).capabilities(capabilities).connect().await
}

/// Starts a task and returns its id.
async fn start_task(client: &TestClient, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {} });
    let result = client.request("tools/call", params).await.expect("a result");
    result["taskId"].as_str().unwrap_or_else(|| panic!("no task: {result}")).to_owned()
}

async fn status(client: &TestClient, id: &str) -> Result<String, i32> {
    let task = client.request("tasks/get", json!({ "taskId": id })).await;
    let status = |task: Value| task["status"].as_str().expect("a status").to_owned();
    task.map(status).map_err(|error| error.code())
}

/// Waits until the task is no longer working.
async fn status_after_work(client: &TestClient, id: &str) -> String {
    loop {
        match status(client, id).await.expect("a task").as_str() {
            "working" => tokio::task::yield_now().await,
            other => return other.to_owned(),
        }
    }
}

/// Panics when dropped.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "boom");
    }
}

/// Sends a message when dropped.
struct Running(UnboundedSender<&'static str>);

impl Drop for Running {
    fn drop(&mut self) {
        let _is_received = self.0.send("dropped");
    }
}

/// Ask with the same key until the answer is yes.
#[tool(register = false)]
async fn ask_repeatedly(context: &ToolContext) -> Result<String, ToolError> {
    loop {
        if let Ok(Answer::Accepted(true)) = context.ask::<bool>("sure", "Sure?").await {
            return Ok("at last".to_owned());
        }
    }
}

/// The same as a task.
#[tool(register = false, task = "optional")]
async fn ask_repeatedly_as_task(context: &ToolContext) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    loop {
        if let Ok(Answer::Accepted(true)) = context.ask::<bool>("sure", "Sure?").await {
            return Ok("at last".to_owned());
        }
    }
}

/// Answer after one wake-up.
#[tool(register = false, task = "optional")]
async fn quick() -> &'static str {
    tokio::task::yield_now().await;
    "done"
}

/// Go on forever.
#[tool(register = false, task = "optional")]
async fn endless(sender: &UnboundedSender<&'static str>) {
    let _running = Running(sender.clone());
    std::future::pending::<()>().await;
}

/// Ask while holding a value that panics when it is dropped.
#[tool(register = false, task = "optional")]
async fn panic_on_drop_after_question(context: &ToolContext) -> Result<String, ToolError> {
    let guard = PanicsOnDrop;
    let answer = context.ask::<bool>("sure", "Sure?").await?;
    std::mem::forget(guard);
    Ok(format!("{answer:?}"))
}

/// Wait forever with a value that panics when it is dropped.
#[tool(register = false, task = "optional")]
async fn panic_on_drop_forever() {
    let _guard = PanicsOnDrop;
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_repeats_its_question_fails() {
    let pool = pool_of::<AskRepeatedlyAction>();
    let client =
        answering(&pool, ProtocolVersion::V2026_07_28, Reply::accept(json!({ "sure": false })))
            .await;
    let error = client.call("ask_repeatedly", json!({})).await.expect_err("an error");
    assert!(error.message().contains("`sure`"), "{error}");
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_repeats_its_question_fails() {
    let client = task_client(&pool_of::<AskRepeatedlyAsTaskAction>()).await;
    let id = start_task(&client, "ask_repeatedly_as_task").await;
    assert_eq!(status_after_work(&client, &id).await, "input_required");
    let no = json!({ "sure": { "action": "accept", "content": { "sure": false } } });
    let params = json!({ "taskId": id, "inputResponses": no });
    client.request("tasks/update", params).await.expect("accepted");
    assert_eq!(status_after_work(&client, &id).await, "failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_ignores_malformed_answers() {
    let client = task_client(&pool_of::<AskRepeatedlyAsTaskAction>()).await;
    let id = start_task(&client, "ask_repeatedly_as_task").await;
    assert_eq!(status_after_work(&client, &id).await, "input_required");
    let update = async |answers: Value| {
        let params = json!({ "taskId": id, "inputResponses": answers });
        client.request("tasks/update", params).await
    };
    for wrong in [json!("yes"), json!({}), json!({ "action": "perhaps" }), json!({ "roots": [] })] {
        let rejected = update(json!({ "sure": wrong, "else": 1 })).await.expect_err("no answer");
        assert_eq!(rejected.code(), -32602);
        assert!(rejected.to_string().contains("sure"), "{rejected}");
        assert_eq!(status(&client, &id).await.as_deref(), Ok("input_required"));
    }
    // An answer without a question is ignored.
    update(json!({ "else": 1 })).await.expect("ignored");
    assert_eq!(status(&client, &id).await.as_deref(), Ok("input_required"));
}

#[tokio::test]
async fn ended_tasks_do_not_count_towards_the_limit() {
    let client = task_client(&pool_of::<QuickAction>()).await;
    let mut last = String::new();
    for _ in 0..1100 {
        last = start_task(&client, "quick").await;
        status_after_work(&client, &last).await;
    }
    assert_eq!(status(&client, &last).await.as_deref(), Ok("completed"));
}

#[tokio::test]
async fn tasks_end_with_their_server() {
    let (sender, mut receiver) = unbounded_channel();
    let pool = ToolPool::builder().tool::<EndlessAction>().state(sender).build().expect("a pool");
    let client = task_client(&pool).await;
    start_task(&client, "endless").await;
    client.close().await;
    let dropped = tokio::time::timeout(std::time::Duration::from_secs(20), receiver.recv()).await;
    assert_eq!(dropped, Ok(Some("dropped")));
}

#[tokio::test]
async fn a_panic_in_a_destructor_does_not_lose_the_question_of_a_task() {
    let client = task_client(&pool_of::<PanicOnDropAfterQuestionAction>()).await;
    let params = json!({ "name": "panic_on_drop_after_question", "arguments": {} });
    let result = client.request("tools/call", params).await.expect("a question");
    assert_eq!(result["resultType"], "input_required", "{result}");
}

#[tokio::test(start_paused = true)]
async fn an_expired_task_is_removed() {
    let client = task_client(&pool_of::<PanicOnDropForeverAction>()).await;
    let id = start_task(&client, "panic_on_drop_forever").await;
    tokio::time::sleep(std::time::Duration::from_secs(3601)).await;
    assert_eq!(status(&client, &id).await, Err(-32602));
}

#[tokio::test]
async fn an_overlong_uri_is_not_found() {
    let file = Resource::builder("file:///{+path}", "file", "A file.").handler(|| async { "text" });
    let pool = ToolPool::builder().add_resource(file).build().expect("a pool");
    let read = async |length: usize| {
        let uri = format!("file:///{}", "a".repeat(length));
        pool.read_resource(&uri, &pool.context()).await.map_err(|error| error.class())
    };
    assert!(read(4_000).await.is_ok());
    assert_eq!(read(4_000_000).await, Err(ErrorClass::NotFound));
}

#[tokio::test]
async fn subscriptions_are_limited() {
    let note = Resource::builder("notes://{id}", "note", "A note.").handler(|| async { "text" });
    let pool = ToolPool::builder().add_resource(note).build().expect("a pool");
    let client = TestClient::stateful(&pool).await;
    let subscribe = async |n: usize| {
        client.request("resources/subscribe", json!({ "uri": format!("notes://{n}") })).await
    };
    for n in 0..1000 {
        subscribe(n).await.expect("subscribed");
    }
    assert!(subscribe(1000).await.is_err());
    assert!(subscribe(7).await.is_ok(), "it is subscribed to already");
    client
        .request("resources/unsubscribe", json!({ "uri": "notes://0" }))
        .await
        .expect("unsubscribed");
    subscribe(1000).await.expect("there is room");
    let uris: Vec<String> = (0..3000).map(|n| format!("notes://{n}")).collect();
    let client = TestClient::stateless(&pool).await;
    let received =
        client.listen(json!({ "resourceSubscriptions": uris })).await.expect("an acknowledgement");
    assert_eq!(received["resourceSubscriptions"].as_array().expect("a list").len(), 1000);
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_its_answer_does_not_become_a_task() {
    let (sender, mut receiver) = unbounded_channel();
    let pool = ToolPool::builder().tool::<EndlessAction>().state(sender).build().expect("a pool");
    let client = task_client(&pool).await;
    let params = json!({ "name": "endless", "arguments": {} });
    // A dropped request is cancelled.
    assert!(client.request("tools/call", params).now_or_never().is_none());
    let dropped = tokio::time::timeout(std::time::Duration::from_secs(20), receiver.recv()).await;
    assert_eq!(dropped, Ok(Some("dropped")));
    client.close().await;
}
