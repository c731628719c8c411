//! Managers that are dropped, interrupted, or without a runtime end without deadlocks.

use super::support::{StoppedClock, in_time, is_running, server_state};
use serde_json::{Value, json};
use std::future::pending;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::time::advance;
use tool_runtime::mcp::{
    McpManager, McpManagerBuilder, McpManagerError, McpReader, McpServer, McpServerConfig,
    McpState, McpWriter,
};
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, ErrorClass};

fn faulty(script: &Value) -> McpServerConfig {
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()])
}

fn empty() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

async fn call(pool: &ToolPool, name: &str) -> ToolResult {
    in_time(pool.call(ToolCall::new(name, "{}"))).await
}

fn class(result: &ToolResult) -> ErrorClass {
    result.error().unwrap_or_else(|| panic!("{result:?}")).class()
}

/// A server that ignores the end of its input, so that stopping it takes a while.
fn slow_to_stop(test: &str) -> (McpServerConfig, PathBuf) {
    let starts = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("starts-ends-{test}"));
    drop(std::fs::remove_file(&starts));
    (faulty(&json!({ "tools": ["echo"], "stays": true, "starts": starts })), starts)
}

/// Polls a future some times, and drops it.
async fn interrupted(work: impl Future) {
    let mut work = pin!(work);
    for _ in 0..50 {
        assert!(futures_util::poll!(&mut work).is_pending(), "it takes longer");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_a_manager_removes_its_tools() {
    let remote = ToolPool::builder().add(Tool::builder("ping", "Answer.").handler(|| async { 1 }));
    let server = McpServer::new(remote.build().unwrap(), "remote", "1.0.0");
    let pool = empty();
    let builder = McpManager::builder().server("s", faulty(&json!({ "tools": ["echo"] })));
    let manager = builder.in_process("remote", server).connect(&pool).await.unwrap();
    assert_eq!(pool.snapshot().tools().len(), 2);
    let mut statuses = manager.statuses();
    let (mut late, mut changes) = (manager.statuses(), pool.changes());
    let waiting = tokio::spawn(async move { while statuses.next().await.is_some() {} });
    drop(manager);
    for name in ["remote.ping", "s.echo"] {
        assert_eq!(class(&call(&pool, name).await), ErrorClass::NotFound);
    }
    assert!(pool.snapshot().tools().is_empty());
    assert!(!in_time(changes.next()).await.unwrap().removed.is_empty());
    in_time(waiting).await.unwrap();
    for _ in 0..2 {
        assert!(in_time(late.next()).await.is_none());
    }
}

#[tokio::test]
async fn servers_end_with_their_pool() {
    let pool = empty();
    let (config, starts) = slow_to_stop("with-pool");
    let manager = McpManager::builder().server("s", config).connect(&pool).await.unwrap();
    pool.close().await;
    while manager.server("s").unwrap().state != McpState::Closed {
        tokio::task::yield_now().await;
    }
    assert_eq!(manager.enable("s").await, Err(McpManagerError::Closed));
    manager.close().await;
    assert!(!is_running(&starts));
}

#[tokio::test]
async fn all_servers_that_cannot_be_added_are_reported_together() {
    let builder = McpManager::builder().server("remote", faulty(&json!({})));
    let builder = builder.server("remote", faulty(&json!({})));
    let bad = McpServerConfig::stdio("");
    let error = builder.server("bad", bad).connect(&empty()).await.unwrap_err();
    let McpManagerError::Several(problems) = &error else { panic!("{error}") };
    assert_eq!(problems[0], McpManagerError::Known { name: "remote".to_owned() });
    assert!(error.to_string().contains("`bad.command`"), "{error}");
}

#[tokio::test]
async fn a_failed_start_leaves_no_process() {
    let remote = ToolPool::builder().add(Tool::builder("ping", "Answer.").handler(|| async { 1 }));
    let server = McpServer::new(remote.build().unwrap(), "remote", "1.0.0");
    let pool = empty();
    let twice = faulty(&json!({}));
    let builder = McpManager::builder().in_process("remote", server);
    let error = builder.server("remote", twice).connect(&pool).await.unwrap_err();
    assert_eq!(error, McpManagerError::Known { name: "remote".to_owned() });
    assert_eq!(class(&call(&pool, "remote.ping").await), ErrorClass::NotFound);
}

#[tokio::test]
async fn a_change_of_a_server_completes_when_its_future_is_dropped() {
    let (config, starts) = slow_to_stop("interrupted");
    let pool = empty();
    let manager = McpManager::builder().server("s", config).connect(&pool).await.unwrap();
    interrupted(manager.disable("s")).await;
    // The next caller must wait for the lock.
    manager.enable("s").await.unwrap();
    in_time(manager.settled()).await;
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "{}");

    interrupted(manager.reconnect("s")).await;
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "{}");

    drop(std::fs::remove_file(&starts));
    interrupted(manager.reconnect("s")).await;
    interrupted(manager.close()).await;
    manager.close().await;
    assert!(pool.snapshot().tools().is_empty());
    assert!(!starts.exists() || !is_running(&starts), "closing again waits for the same end");
}

#[test]
fn a_manager_without_its_runtime_reports_closed_servers() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (first, second, pool) = (runtime(), runtime(), empty());
    let builder = McpManager::builder().server("s", faulty(&json!({ "tools": ["echo"] })));
    let manager = first.block_on(builder.connect(&pool)).unwrap();
    first.shutdown_timeout(Duration::from_secs(10));
    second.block_on(async {
        assert!(call(&pool, "s.echo").await.is_error());
        assert_eq!(manager.server("s").unwrap().state, McpState::Closed);
        manager.enable("s").await.unwrap();
        in_time(manager.settled()).await;
        assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "{}");
        manager.close().await;
    });
}

#[tokio::test]
async fn a_server_name_is_used_by_one_manager_of_a_pool() {
    let pool = empty();
    let builder = || McpManager::builder().server("s", faulty(&json!({ "tools": ["echo"] })));
    let first = builder().connect(&pool).await.unwrap();
    let second = builder().connect(&pool).await.unwrap_err();
    assert_eq!(second, McpManagerError::Known { name: "s".to_owned() });
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "{}");
    drop(first);
    let third = builder().connect(&pool).await.unwrap();
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "{}");
    third.remove("s").await.unwrap();
    let _fourth = builder().connect(&pool).await.unwrap();
}

/// A server that the host starts.
async fn started(tools: &str) -> (McpReader, McpWriter) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_faulty_server"));
    server.arg(tools).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut server = server.spawn().unwrap();
    let (reader, writer) = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
    // The server exits with its input.
    tokio::spawn(async move { server.wait().await });
    (Box::new(reader), Box::new(writer))
}

#[tokio::test]
async fn a_panic_of_the_host_is_a_failure() {
    let pool = empty();
    let panics = AtomicBool::new(true);
    let open = move || {
        let panics = panics.swap(false, Ordering::Relaxed);
        async move {
            assert!(!panics, "not yet");
            Ok(started(r#"{"tools": ["echo"]}"#).await)
        }
    };
    let soon = Duration::from_millis(10);
    let builder = McpManager::builder().custom("remote", open).retry(soon, soon);
    let manager = builder.start(&pool).unwrap();
    let mut statuses = manager.statuses();
    while !manager.server("remote").unwrap().is_ready() {
        let status = in_time(statuses.next()).await.unwrap().remove(0);
        if let Some(reason) = status.state.reason() {
            assert_eq!(reason, "it panicked: not yet");
        }
    }
    assert_eq!(call(&pool, "remote.echo").await.observation().to_text(), "{}");
}

#[tokio::test]
async fn retries_can_be_disabled() {
    let pool = empty();
    let builder = McpManager::builder().server("s", McpServerConfig::stdio("no-such-program"));
    let manager = builder.retry(Duration::MAX, Duration::MAX).start(&pool).unwrap();
    in_time(manager.settled()).await;
    let state = manager.server("s").unwrap().state;
    assert!(matches!(state, McpState::Retrying { failures: 1, .. }), "{state}");
}

/// A manager of a server that can be reached once.
fn reached_once(script: &'static str) -> McpManagerBuilder {
    let is_first = AtomicBool::new(true);
    let open = move || {
        let is_first = is_first.swap(false, Ordering::Relaxed);
        async move {
            if !is_first {
                pending::<()>().await;
            }
            Ok(started(script).await)
        }
    };
    McpManager::builder().custom("remote", open).connect_timeout(Duration::from_secs(600))
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_connection_no_longer_than_for_an_answer() {
    let clock = StoppedClock::hold();
    let pool = empty();
    let builder =
        reached_once(r#"{"tools": ["echo", "die"]}"#).call_timeout(Duration::from_millis(300));
    let _manager = builder.connect(&pool).await.unwrap();
    assert!(call(&pool, "remote.die").await.is_error());
    drop(clock);
    let late = call(&pool, "remote.echo").await;
    assert_eq!(class(&late), ErrorClass::Transient);
    assert!(late.error().unwrap().message().contains("it was not sent"), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_sent_request_is_not_reported_as_unsent() {
    let clock = StoppedClock::hold();
    let pool = empty();
    let builder = reached_once(r#"{"tools": ["die-ro"]}"#).call_timeout(Duration::from_secs(3));
    // Otherwise the call is not repeated.
    let manager = builder.trust("remote").connect(&pool).await.unwrap();
    let lost = tokio::spawn(async move { call(&pool, "remote.die-ro").await });
    server_state(&manager, "remote", |state| *state != McpState::Ready).await;
    drop(clock);
    let lost = in_time(lost).await.unwrap();
    assert_eq!(class(&lost), ErrorClass::Transient);
    let message = lost.error().unwrap().message();
    assert!(message.contains("was lost during `die-ro` ("), "{message}");
    assert!(message.contains("not connected again"), "{message}");
    assert!(!message.contains("not sent"), "{message}");
}

/// A question to a user who never answers. Sends a message when the question is cancelled.
#[derive(Default)]
struct SilentUser {
    received: Notify,
    cancelled: Arc<Notify>,
}

struct Asking(Arc<Notify>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Peer for SilentUser {
    fn can(&self, capability: PeerCapability) -> bool {
        capability == PeerCapability::Elicitation
    }

    fn request(&self, _: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        self.received.notify_one();
        let asking = Asking(Arc::clone(&self.cancelled));
        Box::pin(async move {
            let _asking = asking;
            pending().await
        })
    }
}

#[tokio::test]
async fn a_question_is_dropped_with_its_call() {
    for version in ["2026-07-28", "2025-11-25"] {
        let user = Arc::new(SilentUser::default());
        let pool = empty();
        let server = faulty(&json!({ "version": version, "tools": ["ask"] }));
        let builder = McpManager::builder().server("s", server).peer(user.clone());
        let manager = builder.connect(&pool).await.unwrap();
        tokio::select! {
            _ = pool.call(ToolCall::new("s.ask", "{}")) => panic!("the question is not answered"),
            () = in_time(user.received.notified()) => {}
        }
        in_time(user.cancelled.notified()).await;

        let asking = tokio::spawn({
            let pool = pool.clone();
            async move { pool.call(ToolCall::new("s.ask", "{}")).await }
        });
        in_time(user.received.notified()).await;
        drop(manager);
        // The call ends with the manager, independent of the user.
        in_time(user.cancelled.notified()).await;
        assert!(in_time(asking).await.unwrap().is_error());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_user_has_a_limit() {
    let _clock = StoppedClock::hold();
    let user = Arc::new(SilentUser::default());
    let pool = empty();
    let server = faulty(&json!({ "version": "2026-07-28", "tools": ["ask"] }));
    let builder = McpManager::builder().server("s", server).peer(user.clone());
    let builder = builder.call_timeout(Duration::from_secs(2));
    let _manager = builder.max_call_duration(Duration::from_secs(3)).connect(&pool).await.unwrap();
    let asking = tokio::spawn(async move { call(&pool, "s.ask").await });
    in_time(user.received.notified()).await;
    // The time of the user is not silence of the server.
    advance(Duration::from_millis(2_500)).await;
    assert!(!asking.is_finished());
    advance(Duration::from_millis(500)).await;
    assert_eq!(class(&in_time(asking).await.unwrap()), ErrorClass::Timeout);
    in_time(user.cancelled.notified()).await;
}
