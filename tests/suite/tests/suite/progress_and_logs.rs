//! Progress and log messages of running tools.

use super::questions::VERSIONS;
use super::support::{in_time, pool_of};
use serde_json::json;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tool_runtime::peer::{LogLevel, TraceContext};
use tool_runtime::prelude::*;
use tool_runtime::testing::{CallRecord, ProtocolVersion, TestClient};

/// Count to ten, slowly.
#[tool(register = false)]
async fn count(context: &ToolContext) -> Result<String, ToolError> {
    for n in 0..=10 {
        context.progress(n, 10, format_args!("at {n}"));
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    Ok("counted".to_owned())
}

fn amounts(record: &CallRecord) -> Vec<f64> {
    record.progress.iter().map(|report| report.done).collect()
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_before_the_result() {
    for version in VERSIONS {
        let pool = pool_of::<CountAction>();
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        let record = client.call("count", json!({})).recorded().await;
        assert_eq!(record.result.as_ref().expect("a result").to_text(), "counted");
        assert_eq!(amounts(&record), (0..=10).map(f64::from).collect::<Vec<_>>());
        let last = record.progress.last().expect("a report");
        assert_eq!((last.total, last.message.as_deref()), (Some(10.0), Some("at 10")));
        let lines = client.transcript();
        assert!(lines.last().expect("a line").contains("counted"), "{lines:?}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn progress_without_a_token_is_not_sent() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<CountAction>())
            .protocol_version(version)
            .connect()
            .await;
        let record = client.call("count", json!({})).without_progress().recorded().await;
        assert!(record.result.is_ok() && record.progress.is_empty());
        assert!(client.notifications().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn fast_progress_is_merged_and_only_grows() {
    /// Report progress every millisecond.
    #[tool(register = false)]
    async fn report_often(context: &ToolContext) {
        for n in 0..1000_u32 {
            context.progress(n, None, "");
            context.progress(n / 2, None, "back");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // No further message is waiting.
        context.progress(2000, None, "done");
    }
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<ReportOftenAction>())
            .protocol_version(version)
            .connect()
            .await;
        let record = client.call("report_often", json!({})).recorded().await;
        let amounts = amounts(&record);
        assert!(amounts.is_sorted_by(|one, next| one < next), "{amounts:?}");
        // A second at a rate of fifty.
        assert!((30..=60).contains(&amounts.len()), "{}", amounts.len());
        assert_eq!(amounts.last(), Some(&2000.0));
        assert!(record.progress.iter().all(|report| report.message.as_deref() != Some("back")));
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_have_separate_progress() {
    /// Report an amount.
    #[tool(register = false)]
    async fn report(
        /// The text.
        amount: u32,
        context: &ToolContext,
    ) -> u32 {
        context.progress(amount, None, "");
        amount
    }
    let client = TestClient::stateless(&pool_of::<ReportAction>()).await;
    let call = |amount: u32| client.call("report", json!({ "amount": amount })).recorded();
    let (one, other) = tokio::join!(call(1), call(2));
    assert_eq!((amounts(&one), amounts(&other)), (vec![1.0], vec![2.0]));
}

#[tokio::test(start_paused = true)]
async fn an_ended_call_sends_no_notifications() {
    /// Spawn a task that reports and logs after the call has ended.
    #[tool(register = false)]
    async fn report_later(context: &ToolContext, sender: &mpsc::UnboundedSender<()>) {
        let (context, sender) = (context.clone(), sender.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            context.progress(1, 2, "too late");
            context.log(LogLevel::Error, "too late");
            sender.send(()).expect("the test waits");
        });
    }
    for version in VERSIONS {
        let (sender, mut receiver) = mpsc::unbounded_channel::<()>();
        let pool = ToolPool::builder().tool::<ReportLaterAction>().state(sender).build();
        let client =
            TestClient::builder(&pool.expect("a pool")).protocol_version(version).connect().await;
        client.call("report_later", json!({})).await.expect("a result");
        in_time(receiver.recv()).await.expect("the task has reported");
        client.list_tools().await;
        assert!(client.notifications().is_empty(), "{:?}", client.notifications());
        client.close().await;
    }
}

/// Log at every level.
#[tool(register = false)]
async fn log_all(context: &ToolContext) {
    context.log(LogLevel::Debug, "details");
    context.log(LogLevel::Info, format_args!("{} files", 3));
    context.log_data(LogLevel::Warning, json!({ "disk": "full" }));
    context.log(LogLevel::Emergency, "fire");
}

async fn received_levels(
    version: ProtocolVersion,
    level: impl Into<Option<LogLevel>>,
) -> Vec<LogLevel> {
    let pool = pool_of::<LogAllAction>();
    let client =
        TestClient::builder(&pool).protocol_version(version).log_level(level).connect().await;
    let record = client.call("log_all", json!({})).recorded().await;
    client.close().await;
    record.log.iter().map(|entry| entry.level).collect()
}

#[tokio::test]
async fn log_messages_are_filtered_by_level() {
    use LogLevel::{Debug, Emergency, Info, Warning};
    for version in VERSIONS {
        assert_eq!(
            received_levels(version, Debug).await,
            [Debug, Info, Warning, Emergency],
            "{version:?}"
        );
        assert_eq!(received_levels(version, Info).await, [Info, Warning, Emergency], "{version:?}");
        assert_eq!(received_levels(version, LogLevel::Error).await, [Emergency], "{version:?}");
    }
    assert_eq!(
        received_levels(ProtocolVersion::V2025_11_25, None).await,
        [Info, Warning, Emergency]
    );
    assert_eq!(received_levels(ProtocolVersion::V2026_07_28, None).await, []);
}

#[tokio::test]
async fn the_log_level_is_per_client() {
    let pool = pool_of::<LogAllAction>();
    let builder = || {
        TestClient::builder(&pool).protocol_version(ProtocolVersion::V2025_11_25).log_level(None)
    };
    let (quiet, other) = (builder().connect().await, builder().connect().await);
    quiet.request("logging/setLevel", json!({ "level": "alert" })).await.expect("set");
    assert_eq!(quiet.call("log_all", json!({})).recorded().await.log.len(), 1);
    assert_eq!(other.call("log_all", json!({})).recorded().await.log.len(), 3);
    // The level can be changed at any time.
    quiet.request("logging/setLevel", json!({ "level": "debug" })).await.expect("set");
    assert_eq!(quiet.call("log_all", json!({})).recorded().await.log.len(), 4);
}

#[tokio::test]
async fn the_log_level_of_2026_07_28_is_per_request() {
    let pool = pool_of::<LogAllAction>();
    let client = TestClient::builder(&pool).log_level(None).connect().await;
    let call = || client.call("log_all", json!({}));
    let recorded = call().meta("io.modelcontextprotocol/logLevel", "warning").recorded().await;
    assert_eq!(recorded.log.len(), 2);
    assert!(call().recorded().await.log.is_empty());
    let rejected = client.request("logging/setLevel", json!({ "level": "debug" })).await;
    assert_eq!(rejected.expect_err("it was removed").code(), -32601);
}

#[tokio::test]
async fn log_entries_are_text_or_json_and_in_order() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<LogAllAction>())
            .protocol_version(version)
            .connect()
            .await;
        let record = client.call("log_all", json!({})).recorded().await;
        let data: Vec<_> = record.log.into_iter().map(|entry| entry.data).collect();
        assert_eq!(data, [json!("3 files"), json!({ "disk": "full" }), json!("fire")]);
    }
}

#[tokio::test]
async fn a_server_with_logging_tools_declares_logging() {
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<LogAllAction>())
            .protocol_version(version)
            .connect()
            .await;
        assert!(client.handshake()["capabilities"]["logging"].is_object(), "{version:?}");
    }
}

#[tokio::test]
async fn notifications_of_a_nested_call_reach_the_client() {
    /// Call another tool.
    #[tool(register = false)]
    async fn call_another(context: &ToolContext) -> Result<String, ToolError> {
        context.progress(1, 4, "mine");
        let inner = context.call(ToolCall::new("log_all", "")).await;
        Ok(inner.is_error().to_string())
    }
    let pool = ToolPool::builder().tool::<CallAnotherAction>().tool::<LogAllAction>().build();
    let pool = pool.expect("a pool");
    for version in VERSIONS {
        let client = TestClient::builder(&pool).protocol_version(version).connect().await;
        let record = client.call("call_another", json!({})).recorded().await;
        assert_eq!(record.result.expect("a result").to_text(), "false");
        assert_eq!((record.progress.len(), record.log.len()), (1, 3), "{version:?}");
    }
}

#[tokio::test]
async fn a_failed_call_still_sends_its_notifications() {
    /// Report, log and panic.
    #[tool(register = false)]
    async fn report_and_panic(context: &ToolContext) {
        context.progress(1, 2, "before");
        context.log(LogLevel::Error, "I fall");
        panic!("down");
    }
    for version in VERSIONS {
        let client = TestClient::builder(&pool_of::<ReportAndPanicAction>())
            .protocol_version(version)
            .connect()
            .await;
        let record = client.call("report_and_panic", json!({})).recorded().await;
        assert!(record.result.expect("a result").is_error());
        assert_eq!((record.progress.len(), record.log.len()), (1, 1), "{version:?}");
    }
}

#[tokio::test]
async fn a_tool_sees_the_principal_and_scopes() {
    /// Log of the tool.
    type Seen = Arc<OnceLock<(String, String, String)>>;
    /// Look at the caller.
    #[tool(register = false)]
    async fn record_caller(context: &ToolContext, seen: &Seen) {
        let client = context.client().expect("a client");
        let tenant = context.meta("com.example/tenant").cloned().unwrap_or_default();
        let parent = context.trace().map(|TraceContext { parent, .. }| parent.to_owned());
        assert_eq!(context.header("x-any"), None);
        seen.set((
            format!("{} {}", client.name, client.version),
            tenant.to_string(),
            parent.unwrap_or_default(),
        ))
        .expect("called once");
    }
    for version in VERSIONS {
        let seen = Seen::default();
        let pool =
            ToolPool::builder().tool::<RecordCallerAction>().state(Arc::clone(&seen)).build();
        let client =
            TestClient::builder(&pool.expect("a pool")).protocol_version(version).named("Me", "7");
        let client = client.connect().await;
        let call = client.call("record_caller", json!({}));
        let call = call.meta("com.example/tenant", 5).meta("traceparent", "00-ab-cd-01");
        assert!(!call.await.expect("a result").is_error());
        let expected = ("Me 7".to_owned(), "5".to_owned(), "00-ab-cd-01".to_owned());
        assert_eq!(seen.get(), Some(&expected), "{version:?}");
    }
}
