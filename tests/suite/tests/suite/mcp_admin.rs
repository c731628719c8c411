//! Operation of a running manager: its servers, their states, and the results of calls.

use super::support::{Log, StoppedClock, in_time, server_state, set_subscriber};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;
use tool_runtime::ErrorClass;
use tool_runtime::mcp::{
    McpConfig, McpManager, McpManagerBuilder, McpManagerError, McpServer, McpServerConfig, McpState,
};
use tool_runtime::prelude::*;

fn faulty(script: &Value) -> McpServerConfig {
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()])
}

/// A unique file for the starts of a server.
fn starts(test: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("starts-admin-{test}"));
    drop(std::fs::remove_file(&file));
    file
}

fn count(starts: &Path) -> usize {
    std::fs::read_to_string(starts).map_or(0, |text| text.lines().count())
}

fn echo() -> McpServerConfig {
    faulty(&json!({ "tools": ["echo"] }))
}

/// Answer at once.
#[tool]
async fn ping() -> &'static str {
    "pong"
}

fn empty() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

fn manager() -> McpManagerBuilder {
    McpManager::builder().retry(Duration::from_millis(20), Duration::from_millis(100))
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

fn states(manager: &McpManager) -> Vec<(String, bool)> {
    let states = manager.status().into_iter();
    states.map(|status| (status.name.clone(), status.is_ready())).collect()
}

#[tokio::test]
async fn replacing_servers_keeps_unchanged_ones() {
    let (kept, changed) = (starts("kept"), starts("changed"));
    let entry =
        |starts: &Path, tools: &[&str]| faulty(&json!({ "tools": tools, "starts": starts }));
    let pool = empty();
    let first = McpConfig::new()
        .with("kept", entry(&kept, &["echo"]))
        .with("changed", entry(&changed, &["echo"]))
        .with("gone", echo());
    let own_pool = ToolPool::builder().tool::<PingAction>().build().unwrap();
    let builder = manager().in_process("own", McpServer::new(own_pool, "own", "1.0.0"));
    let manager = builder.config(first).connect(&pool).await.unwrap();
    let second = McpConfig::new()
        .with("kept", entry(&kept, &["echo"]))
        .with("changed", entry(&changed, &["slow"]))
        .with("new", echo());
    let change = manager.replace(second.clone()).await.unwrap();
    manager.settled().await;
    assert_eq!(change.added, ["new"]);
    assert_eq!(change.changed, ["changed"]);
    assert_eq!(change.removed, ["gone"]);
    assert_eq!(change.kept, ["kept"]);
    let names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["changed.slow", "kept.echo", "new.echo", "own.ping"]);
    assert_eq!((count(&kept), count(&changed)), (1, 2), "what is the same stays connected");
    let again = manager.replace(second).await.unwrap();
    assert_eq!(again.kept, ["changed", "kept", "new"]);
    manager.close().await;
}

#[tokio::test]
async fn each_server_has_its_own_state() {
    let pool = empty();
    let missing = McpServerConfig::stdio("no-such-program-here");
    // During a reconnection, a server has no error to report.
    let hour = Duration::from_secs(3600);
    let builder = manager().retry(hour, hour).server("bad", missing);
    let builder = builder.server("off", echo().enabled(false)).server("ready", echo());
    let manager = builder.connect(&pool).await.unwrap();
    let states = manager.status().into_iter().map(|status| status.state);
    let [bad, off, ready] = states.collect::<Vec<_>>().try_into().unwrap();
    assert!(matches!(bad, McpState::Retrying { .. }), "{bad}");
    assert!(bad.reason().unwrap().contains("no-such-program-here"), "{bad}");
    assert_eq!((off, ready), (McpState::Disabled, McpState::Ready));
    let disconnected = call(&pool, "bad.anything", json!({})).await;
    let message = disconnected.observation().to_text();
    assert!(message.contains("`bad`") && message.contains("no-such-program-here"), "{message}");
    let off = call(&pool, "off.echo", json!({})).await;
    assert!(off.observation().to_text().contains("`off` is disabled"), "{off:?}");
    for unknown in [manager.reconnect("of").await, manager.disable("of").await] {
        let error = unknown.unwrap_err();
        assert!(error.to_string().ends_with("there are: bad, off, ready"), "{error}");
    }
}

#[tokio::test]
async fn an_entry_with_unknown_tools_is_a_problem() {
    let pool = empty();
    let server = echo().exclude("nothing_*".parse().unwrap());
    let server = server.tool_timeout("ecko", Duration::from_secs(5));
    let manager = manager().server("s", server).connect(&pool).await.unwrap();
    assert_eq!(
        manager.server("s").unwrap().problems,
        [
            "`exclude`: `nothing_*` does not match the only tool that it lists",
            "`tools`: `ecko` is not the only tool that it lists; did you mean `echo`?",
        ]
    );
    manager.close().await;
}

#[tokio::test]
async fn a_change_of_one_server_keeps_the_others() {
    let (one, other) = (starts("one"), starts("other"));
    let server =
        |starts: &Path| faulty(&json!({ "tools": ["hang", "received", "echo"], "starts": starts }));
    let pool = empty();
    let builder = manager().server("one", server(&one)).server("other", server(&other));
    let manager = builder.connect(&pool).await.unwrap();
    let hanging = tokio::spawn({
        let pool = pool.clone();
        async move { call(&pool, "one.hang", json!({})).await }
    });
    while !call(&pool, "one.received", json!({})).await.observation().to_text().contains("hang") {}
    for _ in 0..3 {
        manager.disable("one").await.unwrap();
        manager.disable("one").await.unwrap();
        assert_eq!(states(&manager), [("one".to_owned(), false), ("other".to_owned(), true)]);
        assert!(!call(&pool, "other.echo", json!({})).await.is_error());
        manager.enable("one").await.unwrap();
        manager.enable("one").await.unwrap();
        manager.settled().await;
    }
    let lost = hanging.await.unwrap();
    assert_eq!(lost.error().unwrap().class(), ErrorClass::Indeterminate, "{lost:?}");
    manager.reconnect("one").await.unwrap();
    assert!(!call(&pool, "one.echo", json!({})).await.is_error());
    assert_eq!((count(&one), count(&other)), (5, 1));
    manager.close().await;
}

#[tokio::test]
async fn a_connection_is_reused_and_never_opened_after_close() {
    let starts = starts("used");
    let pool = empty();
    let server = faulty(&json!({ "tools": ["echo", "received"], "starts": starts }));
    let manager = manager().server("s", server).connect(&pool).await.unwrap();
    for _ in 0..20 {
        assert!(!call(&pool, "s.echo", json!({})).await.is_error());
    }
    let received = call(&pool, "s.received", json!({})).await.observation().to_text();
    let received: Value = serde_json::from_str(&received).unwrap();
    assert_eq!(received["calls"].as_array().unwrap().len(), 21, "the state of the server is kept");
    let tool = pool.get("s.echo").unwrap();
    manager.close().await;
    assert!(call(&pool, "s.echo", json!({})).await.is_error());
    let kept_pool = ToolPool::builder().add(tool).build().unwrap();
    let late = call(&kept_pool, "s.echo", json!({})).await;
    assert!(late.observation().to_text().contains("not connected: closed"), "{late:?}");
    assert_eq!(manager.add("t", echo()).await, Err(McpManagerError::Closed));
    assert_eq!(count(&starts), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_delays_the_start_at_most_by_its_limit() {
    let pool = empty();
    let silent = faulty(&json!({ "slow": 60_000, "tools": ["echo"] }));
    let builder = manager().server("silent", silent).server("ready", echo());
    let (begun, limit) = (Instant::now(), Duration::from_millis(500));
    let manager = builder.start_timeout(limit).connect(&pool).await.unwrap();
    assert!((limit..2 * limit).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    let _clock = StoppedClock::hold();
    assert_eq!(manager.server("silent").unwrap().state, McpState::Connecting);
    server_state(&manager, "ready", |state| *state == McpState::Ready).await;
    assert!(!call(&pool, "ready.echo", json!({})).await.is_error());
    manager.close().await;
}

/// Collects the warnings and errors of this thread.
fn warnings() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN);
    let guard = set_subscriber(subscriber.with_writer(log.clone()).finish());
    (log, guard)
}

#[tokio::test]
async fn working_servers_log_no_warnings() {
    let (log, _guard) = warnings();
    let pool = empty();
    let builder = manager().server("old", faulty(&json!({ "tools": ["echo"], "probe": "die" })));
    let stateless = faulty(&json!({ "tools": ["echo"], "version": "2026-07-28" }));
    let manager = builder.server("new", stateless).connect(&pool).await.unwrap();
    for name in ["old.echo", "new.echo"] {
        assert!(!call(&pool, name, json!({})).await.is_error());
    }
    manager.close().await;
    assert_eq!(log.text(), "");
}

#[tokio::test]
async fn a_repeated_reason_is_warned_about_once() {
    let (log, _guard) = warnings();
    let pool = empty();
    let missing = McpServerConfig::stdio("no-such-program-here");
    let builder = manager().server("bad", missing).server("ready", echo());
    let manager = builder.connect(&pool).await.unwrap();
    let mut statuses = manager.statuses();
    loop {
        match manager.server("bad").unwrap().state {
            McpState::Retrying { failures: 4.., .. } => break,
            _ => in_time(statuses.next()).await.unwrap(),
        };
    }
    manager.close().await;
    let text = log.text();
    assert_eq!(text.matches("no program `no-such-program-here`").count(), 1, "{text}");
}

/// A server that repeats its argument and `KEY` in an error and on standard error, and exits.
const ECHO_SECRETS: &str = r#"
    read line
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    echo "bad --token=$1 and $KEY" >&2
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no %s \\u001b[2J"}}\n' "$id" "$1"
"#;

#[tokio::test]
async fn variables_repeated_by_a_server_are_not_shown() {
    let (log, _guard) = warnings();
    let entry = json!({
        "command": "sh",
        "args": ["-c", ECHO_SECRETS, "telltale", "${TOKEN}"],
        "env": { "KEY": "Bearer ${INNER}" },
    });
    let loader = McpConfig::loader().variables([("TOKEN", "tok-5fQ9zL"), ("INNER", "in-3kX8vw")]);
    let mut config = loader.value(json!({ "telltale": entry })).load().unwrap();
    config.servers.values_mut().for_each(|server| server.required = true);
    let pool = empty();
    let error = manager().config(config).connect(&pool).await.unwrap_err().to_string();
    let shown = format!("{error} {}", log.text());
    assert!(shown.contains("no ${TOKEN}"), "{shown}");
    assert!(shown.contains("--token=${TOKEN}"), "{shown}");
    for secret in ["tok-5fQ9zL", "in-3kX8vw", "\u{1b}[2J"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}
