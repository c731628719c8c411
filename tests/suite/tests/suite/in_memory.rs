//! The in-memory client for tests of servers.

use super::questions::VERSIONS;
use super::support::{in_time, pool_of};
use serde_json::json;
use std::time::Duration;
use tokio::sync::mpsc;
use tool_runtime::error::ProtocolError;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

/// Add two integers.
#[tool(register = false, read_only, tags("maths"))]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

/// Sleep for a day.
#[tool(register = false)]
async fn sleep_a_day() -> &'static str {
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    "rested"
}

fn panic_text(panic: tokio::task::JoinError) -> String {
    let panic = panic.into_panic();
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned())).expect("panic_text")
}

#[tokio::test]
async fn definitions_survive_serialization() {
    let pool = ToolPool::builder().tool::<AddAction>().tool::<SleepADayAction>().build();
    let pool = pool.expect("a pool");
    let offered: Vec<_> = pool.snapshot().definitions().cloned().collect();
    for version in VERSIONS {
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        assert_eq!(client.list_tools().await, offered);
        client.close().await;
    }
}

#[tokio::test]
async fn server_info_is_sent_in_both_protocol_versions() {
    for version in VERSIONS {
        let server = McpServer::new(pool_of::<AddAction>(), "sums", "1.2.3");
        let server = server.with_title("Sums").with_instructions("Add.");
        let client = TestClient::for_server(server).protocol_version(version).connect().await;
        let greeting = client.handshake();
        assert_eq!(greeting["instructions"], "Add.");
        let info = match version {
            ProtocolVersion::V2026_07_28 => {
                &greeting["_meta"]["io.modelcontextprotocol/serverInfo"]
            }
            ProtocolVersion::V2025_11_25 => &greeting["serverInfo"],
        };
        assert_eq!(info, &json!({ "name": "sums", "version": "1.2.3", "title": "Sums" }));
    }
}

#[tokio::test]
async fn the_transcript_contains_every_line() {
    let client = TestClient::builder(&pool_of::<AddAction>())
        .protocol_version(ProtocolVersion::V2025_11_25)
        .connect()
        .await;
    client.call("add", json!({ "a": 1, "b": 2 })).without_progress().await.expect("a result");
    let lines = client.transcript();
    let sent = r#"-> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#;
    let answered = r#"<- {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"3"}],"isError":false}}"#;
    assert_eq!(lines[lines.len() - 2..], [sent, answered]);
}

#[tokio::test]
async fn many_calls_run_together_on_one_client() {
    for version in VERSIONS {
        let client =
            TestClient::builder(&pool_of::<AddAction>()).protocol_version(version).connect().await;
        let calls = (0..200).map(|n| client.call("add", json!({ "a": n, "b": n })).into_future());
        let results = futures_util::future::join_all(calls).await;
        let sums: Vec<_> = results.into_iter().map(|r| r.expect("a result").to_text()).collect();
        assert_eq!(sums, (0..200).map(|n| (2 * n).to_string()).collect::<Vec<_>>());
        client.close().await;
    }
}

#[tokio::test]
async fn large_messages_are_transferred() {
    /// Return the text.
    #[tool(register = false)]
    async fn echo(
        /// The text.
        text: String,
    ) -> String {
        text
    }
    let text = "x".repeat(1 << 20);
    for version in VERSIONS {
        let client =
            TestClient::builder(&pool_of::<EchoAction>()).protocol_version(version).connect().await;
        let result = client.call("echo", json!({ "text": text })).await.expect("a result");
        assert_eq!(result.to_text().len(), 1 << 20);
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_advances_while_a_tool_sleeps() {
    for version in VERSIONS {
        let two_days = Duration::from_secs(2 * 86_400);
        let client = TestClient::builder(&pool_of::<SleepADayAction>())
            .protocol_version(version)
            .answer_timeout(two_days);
        let result = client.connect().await.call("sleep_a_day", json!({})).await.expect("a result");
        assert_eq!(result.to_text(), "rested");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_fails_the_test() {
    let client = TestClient::stateless(&pool_of::<SleepADayAction>()).await;
    let calling = tokio::spawn(client.call("sleep_a_day", json!({})).into_future());
    let text = panic_text(calling.await.expect_err("it panics"));
    assert_eq!(text, "the server has not answered `tools/call` (request 2) within 10s");
    assert_eq!(
        client.transcript().last().expect("a line"),
        r#"-> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    struct Guard(mpsc::UnboundedSender<()>);
    impl Drop for Guard {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    /// Report the start and the end, and wait forever.
    #[tool(register = false)]
    async fn wait(received: &mpsc::UnboundedSender<()>) {
        let _guard = Guard(received.clone());
        let _ = received.send(());
        std::future::pending::<()>().await;
    }
    for version in VERSIONS {
        let (sender, mut received) = mpsc::unbounded_channel::<()>();
        let pool = ToolPool::builder().tool::<WaitAction>().state(sender).build();
        let client =
            TestClient::builder(&pool.expect("a pool")).protocol_version(version).connect().await;
        let call = client.call("wait", json!({})).start();
        in_time(received.recv()).await.expect("it runs");
        assert!(!call.is_finished());
        call.cancel().await;
        in_time(received.recv()).await.expect("it is dropped");
        let mut call = client.call("wait", json!({})).into_future();
        tokio::select! {
            result = &mut call => panic!("{result:?}"),
            _ = received.recv() => drop(call),
        }
        in_time(received.recv()).await.expect("it is dropped");
        client.close().await;
    }
}

#[tokio::test]
async fn closing_ends_the_server_and_running_calls() {
    let (sender, mut dropped) = mpsc::channel::<()>(1);
    /// Hold a sender forever.
    #[tool(register = false)]
    async fn hold(sender: &mpsc::Sender<()>, context: &ToolContext) {
        let _own = sender.clone();
        context.progress(1, None, "");
        std::future::pending::<()>().await;
    }
    let pool = ToolPool::builder().tool::<HoldAction>().state(sender).build().expect("a pool");
    let client = TestClient::builder(&pool).answer_timeout(Duration::from_secs(60)).connect().await;
    tokio::time::pause();
    let call = client.call("hold", json!({})).start();
    client.notification("notifications/progress").await;
    client.close().await;
    let result = call.await.expect("a result");
    assert_eq!(result.to_text(), "the call to `hold` was cancelled");
    drop(pool);
    assert!(in_time(dropped.recv()).await.is_none(), "nothing of it is left");
}

#[tokio::test]
async fn requests_are_sent_as_they_are() {
    for version in VERSIONS {
        let client =
            TestClient::builder(&pool_of::<AddAction>()).protocol_version(version).connect().await;
        let listed = client.request("tools/list", json!({})).await.expect("a list");
        assert_eq!(listed["tools"][0]["name"], "add");
        let error = client.request("no/method", json!({})).await.expect_err("unknown");
        assert_eq!(error.code(), -32601);
        let wrong = client.request("tools/call", json!({ "arguments": {} })).await;
        assert_eq!(wrong.expect_err("no name").code(), -32602);
        let version =
            json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "1999-01-01" } });
        let error = client.request("tools/list", version).await.expect_err("long ago");
        assert_eq!(error.code(), -32022);
        client.close().await;
    }
}

#[tokio::test]
async fn methods_of_another_version_are_unknown() {
    for (version, method, is_known) in [
        (ProtocolVersion::V2025_11_25, "ping", true),
        (ProtocolVersion::V2026_07_28, "ping", false),
        (ProtocolVersion::V2025_11_25, "logging/setLevel", true),
        (ProtocolVersion::V2026_07_28, "logging/setLevel", false),
    ] {
        let client =
            TestClient::builder(&pool_of::<AddAction>()).protocol_version(version).connect().await;
        // The first request of a client of 2026-07-28 contains its version.
        client.list_tools().await;
        let answer = client.request(method, json!({ "level": "info" })).await;
        let code = answer.err().map(|error| error.code());
        assert_eq!(code, (!is_known).then_some(-32601), "{version:?} {method}");
    }
}

#[tokio::test]
async fn an_error_instead_of_an_answer_ends_the_call() {
    /// Ask.
    #[tool(register = false)]
    async fn ask(context: &ToolContext) -> Result<String, ToolError> {
        Ok(format!("{:?}", context.ask::<bool>("sure", "Sure?").await?))
    }
    let reject = |_| async { Reply::error(ProtocolError::new(-1, "the screen is off")) };
    for version in VERSIONS {
        let builder =
            TestClient::builder(&pool_of::<AskAction>()).protocol_version(version).answer(reject);
        match builder.connect().await.call("ask", json!({})).await {
            Err(error) => assert_eq!((error.code(), version), (-1, ProtocolVersion::V2026_07_28)),
            Ok(result) => assert!(result.to_text().contains("the screen is off"), "{result:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_that_panics_fails_the_test() {
    /// Ask.
    #[tool(register = false)]
    async fn ask(context: &ToolContext) -> Result<String, ToolError> {
        Ok(format!("{:?}", context.ask::<bool>("sure", "Sure?").await?))
    }
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<AskAction>())
            .protocol_version(version)
            .answer(|_| async { panic!("not that one") })
            .connect()
            .await;
        let calling = tokio::spawn(client.call("ask", json!({})).into_future());
        let text = panic_text(calling.await.expect_err("it panics"));
        let expected = match version {
            ProtocolVersion::V2026_07_28 => "not that one",
            ProtocolVersion::V2025_11_25 => {
                "`tools/call` (request 3) has no answer: the client's own `answer` panicked"
            }
        };
        assert_eq!(text, expected);
    }
}
