//! The in-memory client: its identity, its capabilities, and its subscriptions.

use super::questions::VERSIONS;
use super::support::{in_time, pool_of};
use futures_util::FutureExt as _;
use serde_json::json;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tool_runtime::Principal;
use tool_runtime::peer::Answer;
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

/// Make coffee: takes a while, and asks about milk.
#[tool(register = false, task = "required")]
async fn make_coffee(context: &ToolContext) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_secs(3)).await;
    match context.ask::<bool>("milk", "Milk?").await? {
        Answer::Accepted(true) => Ok("with milk".into()),
        _ => Err(ToolError::user("declined without milk")),
    }
}

/// Sends a message when dropped.
struct DropNotifier(UnboundedSender<()>);

impl Drop for DropNotifier {
    fn drop(&mut self) {
        let _is_received = self.0.send(());
    }
}

/// Never end.
#[tool(register = false, task = "required")]
async fn run_forever(sender: &UnboundedSender<()>) {
    let _notifier = DropNotifier(sender.clone());
    std::future::pending::<()>().await;
}

/// Return the principal and the tenant.
#[tool(register = false)]
async fn whoami(caller: &Principal, context: &ToolContext) -> String {
    format!("{:?} of {:?}", caller.id(), context.header("x-tenant"))
}

/// A note.
#[resource("notes://{id}", register = false)]
async fn note(
    /// The number.
    id: u64,
) -> String {
    format!("the text of {id}")
}

#[tokio::test(start_paused = true)]
async fn a_call_that_becomes_a_task_is_followed_to_its_end() {
    let pool = pool_of::<MakeCoffeeAction>();
    for (milk, text) in [(true, "with milk"), (false, "declined without milk")] {
        let client = TestClient::builder(&pool)
            .tasks()
            .answer(move |_| async move { Reply::accept(json!({ "milk": milk })) })
            .connect()
            .await;
        let result = client.call("make_coffee", json!({})).await.expect("a result");
        assert_eq!((result.to_text().as_str(), result.is_error()), (text, !milk));
        assert_eq!(client.questions()[0].message(), "Milk?");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_call_is_dropped_is_cancelled() {
    let (sender, mut dropped) = unbounded_channel::<()>();
    let pool =
        ToolPool::builder().tool::<RunForeverAction>().state(sender).build().expect("a pool");
    let client = TestClient::builder(&pool).tasks().connect().await;
    let call = client.call("run_forever", json!({})).start();
    while !client.transcript().iter().any(|line| line.contains("tasks/get")) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    call.cancel().await;
    in_time(dropped.recv()).await.expect("it is dropped");
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_end_fails_the_test() {
    let (sender, _dropped) = unbounded_channel::<()>();
    let pool =
        ToolPool::builder().tool::<RunForeverAction>().state(sender).build().expect("a pool");
    let client = TestClient::builder(&pool).tasks().connect().await;
    let call = AssertUnwindSafe(client.call("run_forever", json!({})).into_future());
    let panic = call.catch_unwind().await.expect_err("it panics");
    let text = panic.downcast_ref::<String>().expect("words");
    assert_eq!(text, "the task works 10s already");
}

#[tokio::test]
async fn a_task_without_task_support_panics() {
    let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let pool = pool_of::<MakeCoffeeAction>();
    let client = TestClient::builder(&pool).capabilities(declared).connect().await;
    let call = AssertUnwindSafe(client.call("make_coffee", json!({})).into_future());
    let panic = call.catch_unwind().await.expect_err("it panics");
    let text = panic.downcast_ref::<String>().expect("words");
    assert!(text.contains("result of the type `task`"), "{text}");
    assert!(text.contains("TestClientBuilder::tasks()"), "{text}");
}

#[tokio::test]
async fn a_client_is_notified_of_subscribed_resources() {
    for version in VERSIONS {
        let pool = ToolPool::builder().resource::<NoteResource>().build().expect("a pool");
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        let uris = json!({ "resourceSubscriptions": ["notes://1", "notes://2"] });
        assert_eq!(client.listen(uris.clone()).await.expect("an acknowledgement"), uris);
        pool.resource_updated("notes://2");
        let notification = client.notification("notifications/resources/updated").await;
        assert_eq!(notification.params["uri"], "notes://2");
        client.close().await;
    }
    let pool = ToolPool::builder().resource::<NoteResource>().build().expect("a pool");
    let client = TestClient::stateful(&pool).await;
    let rejected = client.listen(json!({ "resourceSubscriptions": ["other://1"] })).await;
    assert_eq!(rejected.expect_err("no such resource").code(), -32002);
}

#[tokio::test]
async fn rejects_a_filter_with_a_misspelt_key() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<WhoamiAction>())
            .protocol_version(version)
            .connect()
            .await;
        let listening = AssertUnwindSafe(client.listen(json!({ "toolListChanged": true })));
        let panic = listening.catch_unwind().await.expect_err("it panics");
        let text = panic.downcast_ref::<String>().expect("words");
        assert!(text.contains("unknown field `toolListChanged`"), "{text}");
        assert!(text.contains("`toolsListChanged`"), "{text}");
    }
}

#[tokio::test]
async fn tools_see_the_client_info() {
    let pool = pool_of::<WhoamiAction>();
    for version in VERSIONS {
        let ada =
            TestClient::builder(&pool).protocol_version(version).principal(Principal::new("ada"));
        let ada = ada.header("X-Tenant", "acme").connect().await;
        let result = ada.call("whoami", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), r#""ada" of Some("acme")"#);
        let anonymous = TestClient::builder(&pool).protocol_version(version).connect().await;
        let result = anonymous.call("whoami", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), r#""" of None"#);
    }
}

#[tokio::test]
async fn a_task_belongs_to_the_principal_that_started_it() {
    let pool = pool_of::<MakeCoffeeAction>();
    let server = tool_runtime::mcp::McpServer::new(pool, "coffee", "1.0.0");
    let client_of = |id: &str| {
        let client = TestClient::for_server(server.clone())
            .protocol_version(ProtocolVersion::V2026_07_28)
            .tasks();
        client.principal(Principal::new(id)).connect()
    };
    let (ada, bob) = (client_of("ada").await, client_of("bob").await);
    let params = json!({ "name": "make_coffee", "arguments": {} });
    let task = ada.request("tools/call", params).await.expect("a task");
    let task = json!({ "taskId": task["taskId"] });
    assert_eq!(ada.request("tasks/get", task.clone()).await.expect("hers")["status"], "working");
    bob.request("tasks/get", task).await.expect_err("not his");
}
