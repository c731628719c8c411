//! Misbehaving servers over standard input and output, in separate processes.

use super::leaks::eventually;
use super::support::{StoppedClock, in_time, is_running, server_state};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;
use tokio::time::advance;
use tool_runtime::ErrorClass;
use tool_runtime::mcp::{McpConfig, McpManager, McpManagerError, McpServerConfig, McpState};
use tool_runtime::pool::ToolStatus;
use tool_runtime::prelude::*;

fn faulty(script: &Value) -> McpServerConfig {
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script.to_string()])
}

/// A unique file for the starts of a server.
fn starts(test: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("starts-{test}"));
    drop(std::fs::remove_file(&file));
    file
}

fn count(starts: &Path) -> usize {
    std::fs::read_to_string(starts).map_or(0, |text| text.lines().count())
}

async fn with(script: Value) -> (ToolPool, McpManager) {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let builder = McpManager::builder().server("s", faulty(&script));
    let builder = builder.retry(Duration::from_millis(20), Duration::from_millis(100));
    let manager = builder.connect(&pool).await.unwrap();
    (pool, manager)
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

async fn text(pool: &ToolPool, name: &str, arguments: Value) -> String {
    call(pool, name, arguments).await.observation().to_text()
}

#[tokio::test]
async fn both_versions_connect_for_any_answer_to_the_probe() {
    for (script, protocol) in [
        (json!({ "version": "2026-07-28" }), "2026-07-28"),
        (json!({}), "2025-11-25"),
        (json!({ "probe": "params" }), "2025-11-25"),
        (json!({ "probe": "die" }), "2025-11-25"),
    ] {
        let mut script = script;
        script["tools"] = json!(["echo"]);
        let (pool, manager) = with(script.clone()).await;
        assert_eq!(text(&pool, "s.echo", json!({ "a": 1 })).await, r#"{"a":1}"#, "{script}");
        assert_eq!(manager.server("s").unwrap().protocol.as_deref(), Some(protocol));
        manager.close().await;
    }
}

#[tokio::test]
async fn a_server_silent_about_the_probe_gets_initialize_in_the_same_process() {
    let probes = ["ignore", "garbage", "late"].map(|probe| async move {
        let starts = starts(&format!("silent-{probe}"));
        let script = json!({ "probe": probe, "tools": ["echo"], "starts": starts });
        assert_eq!(protocol_of_slow(&script).await, "2025-11-25", "{probe}");
        assert_eq!(count(&starts), 1, "{probe}");
    });
    futures_util::future::join_all(probes).await;
}

/// The server is restarted once, since it rejects `initialize` after the probe.
#[tokio::test]
async fn a_slow_stateless_server_is_recognized() {
    let starts = starts("slow-stateless");
    let script =
        json!({ "version": "2026-07-28", "probe": "late", "tools": ["echo"], "starts": starts });
    assert_eq!(protocol_of_slow(&script).await, "2026-07-28");
    assert_eq!(count(&starts), 2);
}

/// The protocol version used with a server that does not answer the probe in time.
async fn protocol_of_slow(script: &Value) -> String {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let config = faulty(script).connect_timeout(Duration::from_secs(6));
    let manager = McpManager::builder().server("s", config).connect(&pool).await.unwrap();
    assert_eq!(text(&pool, "s.echo", json!({})).await, "{}");
    let protocol = manager.server("s").unwrap().protocol.unwrap();
    manager.close().await;
    protocol
}

#[tokio::test]
async fn a_server_that_answers_nothing_is_reported() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let starts = starts("silent");
    let config = faulty(&json!({ "slow": 600_000, "starts": starts }));
    let config = config.connect_timeout(Duration::from_secs(2));
    let hour = Duration::from_secs(3600);
    let builder = McpManager::builder().server("s", config).retry(hour, hour);
    let manager = builder.start(&pool).unwrap();
    manager.settled().await;
    let state = server_state(&manager, "s", |state| state.reason().is_some()).await;
    let reason = "it answered neither `server/discover` nor `initialize` within 2s";
    assert!(state.reason().unwrap().starts_with(reason), "{state}");
    // A process that needs longer to start is ended before it notes that.
    assert!(count(&starts) <= 1, "both were sent to one process");
}

#[tokio::test]
async fn an_invalid_tool_is_left_out_and_reported() {
    let tools = json!(["echo", "echo-noschema", "echo-remote", "echo-deep", "broken", "odd"]);
    let (pool, manager) = with(json!({ "tools": tools })).await;
    let report = pool.report();
    let status = |name: &str| {
        report.tools.iter().find(|tool| tool.name == name).map(|tool| tool.status.clone()).unwrap()
    };
    assert_eq!(status("s.echo"), ToolStatus::Visible);
    for (name, reason) in [
        ("s.echo-noschema", "cannot be read"),
        ("s.echo-remote", "never fetched"),
        ("s.echo-deep", "nested deeper than 100 levels"),
    ] {
        match status(name) {
            ToolStatus::Quarantined { reason: given } => {
                assert!(given.contains(reason) && !given.contains(name), "{given}");
            }
            other => panic!("{name} is {other}"),
        }
    }
    let odd = call(&pool, "s.odd", json!({})).await;
    assert!(odd.observation().to_text().contains("hologram"));
    assert_eq!(odd.observation().meta().unwrap()["k"], 1);
    let broken = call(&pool, "s.broken", json!({})).await;
    assert!(broken.observation().meta().unwrap()["tool-runtime/output-mismatch"].is_string());
    manager.close().await;
}

#[tokio::test]
async fn pages_are_followed_up_to_a_limit() {
    let tools = json!(["echo-1", "echo-2", "echo-3", "echo-4", "echo-5"]);
    let (pool, _manager) = with(json!({ "tools": tools, "pages": 2 })).await;
    assert_eq!(pool.snapshot().tools().len(), 5);
    let (pool, manager) = with(json!({ "tools": tools, "pages": 2, "cursor": "repeat" })).await;
    assert_eq!(pool.snapshot().tools().len(), 5);
    let problems = manager.server("s").unwrap().problems;
    assert!(
        problems.iter().any(|problem| problem.contains("repeats an earlier page")),
        "{problems:?}"
    );
}

#[tokio::test]
async fn other_output_of_servers_is_ignored() {
    let (pool, _manager) = with(json!({ "tools": ["garbage", "twice", "flood", "echo"] })).await;
    assert_eq!(text(&pool, "s.garbage", json!({})).await, "clean");
    assert_eq!(text(&pool, "s.twice", json!({})).await, "first");
    assert_eq!(text(&pool, "s.flood", json!({ "n": 20_000 })).await, "dry");
    assert_eq!(text(&pool, "s.echo", json!({})).await, "{}");
}

#[tokio::test]
async fn an_unreadable_answer_ends_the_call_immediately() {
    let (pool, manager) = with(json!({ "tools": ["raw", "huge", "echo"] })).await;
    let deep = ["{\"a\":".repeat(200), "1".to_owned(), "}".repeat(200)].concat();
    for (line, problem) in [
        (r#"{"jsonrpc":"2.0","id":ID}"#, "its answer cannot be read"),
        (r#"{"jsonrpc":"2.0","id":ID,"result""#, "its answer cannot be read"),
        (r#"{"result":{"content":[],"structuredContent":NaN},"jsonrpc":"2.0","id":ID}"#, "NaN"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":DEEP}}"#, "recursion limit"),
        (r#"{"jsonrpc":"2.0","id":ID,"error":"boom"}"#, "its answer cannot be read"),
    ] {
        let line = line.replace("DEEP", &deep);
        let result = call(&pool, "s.raw", json!({ "line": line })).await;
        let error = result.error().unwrap_or_else(|| panic!("{line}: {result:?}"));
        let is_named = error.message().contains(problem) || problem == "NaN";
        assert!(is_named, "{line}: {error}");
    }
    let huge = call(&pool, "s.huge", json!({ "bytes": 17 << 20 })).await;
    let error = huge.error().unwrap();
    assert!(error.message().contains("it is longer than 16777216 bytes"), "{error}");
    assert!(error.message().contains("may have had its effect"), "{error}");
    assert_eq!(text(&pool, "s.echo", json!({})).await, "{}");
    assert_eq!(manager.server("s").unwrap().state, McpState::Ready, "the connection stays open");
}

#[tokio::test]
async fn invalid_utf_8_in_an_answer_is_replaced() {
    let (pool, _manager) = with(json!({ "tools": ["raw"] })).await;
    let content = r#"{"content":[{"type":"text","text":"a\ud800b"}]}"#;
    let single = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{content}}}"#);
    for line in [format!("[{single}]"), single] {
        assert_eq!(text(&pool, "s.raw", json!({ "line": line })).await, "a\u{fffd}b");
    }
}

#[tokio::test]
async fn output_before_an_exit_is_reported() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let config = faulty(&json!({ "usage": "Usage: need --db PATH, not k3y-of-mine" }));
    let manager = McpManager::builder().server("s", config.env("KEY", "k3y-of-mine"));
    let manager = manager.start(&pool).unwrap();
    manager.settled().await;
    let state = server_state(&manager, "s", |state| state.reason().is_some()).await;
    let words = "exited with code 2; its last output: Usage: need --db PATH, not ${KEY}";
    assert!(state.reason().unwrap().contains(words), "{state}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_reading_is_reconnected() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let open = move || {
        let start = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 10);
            tokio::spawn(serve_until_unread(theirs, start == 0));
            let (reader, writer) = tokio::io::split(ours);
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        }
    };
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let _manager = McpManager::builder().custom("s", open).connect(&pool).await.unwrap();
    let large = json!({ "a": "x".repeat(1 << 20) });
    let began = tokio::time::Instant::now();
    assert_eq!(text(&pool, "s.echo", json!({ "b": 1 })).await, "done");
    let calls = (0..3).map(|_| call(&pool, "s.echo", large.clone()));
    let results = futures_util::future::join_all(calls).await;
    let lost = results[0].error().unwrap();
    assert!(lost.message().contains("has read none of its input for 30s"), "{lost}");
    assert!(results[1..].iter().all(|result| !result.is_error()), "they were sent again");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(starts.load(Ordering::Relaxed), 2);
}

/// A server that answers every call or, with `stops_reading`, stops reading after the first.
async fn serve_until_unread(stream: tokio::io::DuplexStream, stops_reading: bool) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let (id, method) = (&message["id"], message["method"].as_str().unwrap());
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "serve_until_unread", "version": "1" },
            }),
            "tools/list" => {
                json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
            }
            "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
            _ if id.is_null() => continue,
            _ => Value::Null,
        };
        let answer = match result {
            Value::Null => json!({ "code": -32601, "message": "no such method" }),
            _ => result,
        };
        let key = if answer.get("code").is_some() { "error" } else { "result" };
        let answer = json!({ "jsonrpc": "2.0", "id": id, key: answer });
        writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        if stops_reading && method == "tools/call" {
            return std::future::pending().await;
        }
    }
}

#[tokio::test]
async fn a_call_without_a_waiter_is_cancelled() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (pool, _manager) =
            with(json!({ "version": version, "tools": ["hang", "received"] })).await;
        tokio::select! {
            hung = call(&pool, "s.hang", json!({})) => panic!("{hung:?}"),
            () = received(&pool, "s", "hang", 1) => {}
        }
        assert_eq!(cancelled(&pool).await, 1, "{version}");
    }
}

/// The calls and cancellations that a server has received.
async fn seen(pool: &ToolPool, server: &str) -> Value {
    let seen = text(pool, &format!("{server}.received"), json!({})).await;
    serde_json::from_str(&seen).unwrap()
}

/// Waits until a server has received some calls of a tool.
async fn received(pool: &ToolPool, server: &str, tool: &str, count: usize) {
    in_time(async {
        loop {
            let calls = seen(pool, server).await["calls"].take();
            let calls = calls.as_array().unwrap().iter().filter(|name| *name == tool);
            if calls.count() == count {
                return;
            }
        }
    })
    .await;
}

/// Number of cancellations that the server received. A cancelled call does not wait until its notification is sent.
async fn cancelled(pool: &ToolPool) -> u64 {
    in_time(async {
        loop {
            if let Some(count @ 1..) = seen(pool, "s").await["cancelled"].as_u64() {
                return count;
            }
        }
    })
    .await
}

/// A call that runs while the test goes on.
fn begun(pool: &ToolPool, name: &'static str) -> JoinHandle<ToolResult> {
    let pool = pool.clone();
    tokio::spawn(async move { call(&pool, name, json!({})).await })
}

#[tokio::test]
async fn large_messages_pass_in_both_directions() {
    let (pool, manager) = with(json!({ "tools": ["huge", "echo"] })).await;
    let huge = || text(&pool, "s.huge", json!({ "bytes": 8 << 20 }));
    let (first, second) = tokio::join!(huge(), huge());
    assert_eq!((first.len(), second.len()), (8 << 20, 8 << 20));
    let arguments = json!({ "a": "ä".repeat(2 << 20) });
    assert_eq!(text(&pool, "s.echo", arguments.clone()).await, arguments.to_string());
    manager.close().await;
}

#[tokio::test]
async fn an_answer_without_content_is_a_success() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (pool, manager) = with(json!({ "version": version, "tools": ["empty"] })).await;
        let result = call(&pool, "s.empty", json!({})).await;
        assert!(!result.is_error() && result.observation().content().is_empty(), "{result:?}");
        manager.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn silence_has_a_limit_and_progress_does_not_count_as_silence() {
    let _clock = StoppedClock::hold();
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let config = faulty(&json!({ "tools": ["hang", "walk", "step", "arrive", "received"] }));
    let config = config.call_timeout(Duration::from_secs(1));
    let builder =
        McpManager::builder().server("s", config).max_call_duration(Duration::from_secs(4));
    let _manager = builder.connect(&pool).await.unwrap();
    let silent = begun(&pool, "s.hang");
    received(&pool, "s", "hang", 1).await;
    advance(Duration::from_secs(1)).await;
    let error = in_time(silent).await.unwrap();
    let error = error.error().unwrap();
    assert_eq!(error.class(), ErrorClass::Timeout);
    assert!(error.message().contains("`s` sent nothing for 1s"), "{error}");
    assert_eq!(cancelled(&pool).await, 1, "the server was notified");
    // Longer than the time limit in total, but never silent for that time.
    let steps = async |count: usize| {
        for _ in 0..count {
            assert_eq!(text(&pool, "s.step", json!({})).await, "stepped");
            advance(Duration::from_millis(900)).await;
        }
    };
    let slow = begun(&pool, "s.walk");
    received(&pool, "s", "walk", 1).await;
    steps(4).await;
    assert_eq!(text(&pool, "s.arrive", json!({})).await, "arrived");
    assert_eq!(in_time(slow).await.unwrap().observation().to_text(), "done");
    let endless = begun(&pool, "s.walk");
    received(&pool, "s", "walk", 2).await;
    steps(5).await;
    let endless = in_time(endless).await.unwrap();
    assert!(endless.error().unwrap().message().contains("not done within 4s"), "{endless:?}");
}

#[tokio::test(start_paused = true)]
async fn defaults_do_not_extend_the_maximum_call_duration() {
    let _clock = StoppedClock::hold();
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let config = || faulty(&json!({ "tools": ["hang", "received"] }));
    let longer = config().tool_timeout("hang", Duration::from_millis(400));
    let builder = McpManager::builder().server("s", config()).server("longer", longer);
    let builder = builder.max_call_duration(Duration::from_millis(200));
    let _manager = builder.connect(&pool).await.unwrap();
    let late = begun(&pool, "s.hang");
    received(&pool, "s", "hang", 1).await;
    advance(Duration::from_millis(200)).await;
    let late = in_time(late).await.unwrap();
    assert!(late.error().unwrap().message().contains("not done within 200ms"), "{late:?}");
    // A setting of the entry has priority.
    let late = begun(&pool, "longer.hang");
    received(&pool, "longer", "hang", 1).await;
    advance(Duration::from_millis(400)).await;
    let late = in_time(late).await.unwrap();
    assert!(late.error().unwrap().message().contains("400ms"), "{late:?}");
}

#[tokio::test]
async fn a_server_killed_during_a_call_is_restarted() {
    let starts = starts("killed");
    let (pool, manager) = with(json!({ "tools": ["die", "echo"], "starts": starts })).await;
    let error = call(&pool, "s.die", json!({})).await;
    let error = error.error().unwrap();
    assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
    assert!(error.message().contains("may have had its effect"), "{error}");
    // A call waits for the restart.
    assert_eq!(text(&pool, "s.echo", json!({})).await, "{}");
    assert_eq!(count(&starts), 2);
    server_state(&manager, "s", |state| *state == McpState::Ready).await;
}

#[tokio::test]
async fn only_repeatable_calls_are_sent_twice() {
    let starts = starts("fragile");
    let script = json!({ "tools": ["fragile", "fragile-ro", "received"], "starts": starts });
    let (pool, manager) = with(script.clone()).await;
    // A server's annotations are used only if it is trusted.
    let trusted = McpConfig::new().with("s", faulty(&script).trusted(true));
    std::fs::remove_file(&starts).unwrap();
    manager.replace(trusted).await.unwrap();
    manager.settled().await;
    assert_eq!(text(&pool, "s.fragile-ro", json!({})).await, "survived");
    let received: Value =
        serde_json::from_str(&text(&pool, "s.received", json!({})).await).unwrap();
    assert_eq!(received["calls"], json!(["fragile-ro", "received"]));

    std::fs::remove_file(&starts).unwrap();
    let (pool, _manager) = with(script).await;
    let lost = call(&pool, "s.fragile", json!({})).await;
    assert_eq!(lost.error().unwrap().class(), ErrorClass::Indeterminate);
    let received: Value =
        serde_json::from_str(&text(&pool, "s.received", json!({})).await).unwrap();
    assert_eq!(received["calls"], json!(["received"]), "the new start was not asked again");
}

#[tokio::test]
async fn calls_to_a_disconnected_server_share_one_attempt() {
    let starts = starts("shared");
    let (pool, _manager) = with(json!({ "tools": ["die", "echo"], "starts": starts })).await;
    call(&pool, "s.die", json!({})).await;
    let calls = (0..20).map(|_| text(&pool, "s.echo", json!({})));
    let texts = futures_util::future::join_all(calls).await;
    assert!(texts.iter().all(|text| text == "{}"), "{texts:?}");
    assert_eq!(count(&starts), 2);
}

#[tokio::test]
async fn a_server_that_fails_at_the_start_is_retried() {
    let starts = starts("late");
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let late = json!({ "tools": ["echo"], "starts": starts, "dead": 4 });
    let builder = McpManager::builder().server("s", faulty(&late));
    let builder = builder.server("ready", faulty(&json!({ "tools": ["echo"] })));
    let builder = builder.retry(Duration::from_millis(20), Duration::from_millis(50));
    let manager = builder.connect(&pool).await.unwrap();
    let state = server_state(&manager, "s", |state| state.reason().is_some()).await;
    assert!(
        state.reason().unwrap().contains("exited with code 3; its last output: this is start"),
        "{state}"
    );
    // Callers receive the reason why the server is not connected.
    let disconnected = call(&pool, "s.echo", json!({})).await;
    assert!(disconnected.is_error());
    let disconnected = disconnected.error().unwrap();
    assert!(disconnected.message().contains("MCP server `s` is"), "{disconnected}");
    assert_eq!(text(&pool, "ready.echo", json!({})).await, "{}");
    server_state(&manager, "s", |state| *state == McpState::Ready).await;
    assert_eq!(text(&pool, "s.echo", json!({})).await, "{}");
}

#[tokio::test]
async fn all_failures_of_servers_are_reported() {
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let missing = McpServerConfig::stdio("no-such-program-here");
    let dead = faulty(&json!({ "dead": 100 }));
    let builder = McpManager::builder().server("missing", missing).server("dead", dead.clone());
    let manager = builder.connect(&pool).await.expect("no server is required");
    let reasons: Vec<_> = manager
        .status()
        .iter()
        .map(|it| it.state.reason().unwrap_or_default().to_owned())
        .collect();
    assert!(reasons[0].contains("this is start 1"), "{reasons:?}");
    assert!(reasons[1].contains("no program `no-such-program-here`"), "{reasons:?}");
    manager.close().await;
    let working = faulty(&json!({ "tools": ["echo"] }));
    let builder =
        McpManager::builder().server("working", working).server("dead", dead.required(true));
    let error = builder.connect(&pool).await.unwrap_err();
    assert!(matches!(error, McpManagerError::RequiredFailed { .. }), "{error}");
    assert!(pool.snapshot().tools().is_empty());
}

#[tokio::test]
async fn a_removed_tool_is_not_found() {
    let (pool, _manager) = with(json!({ "tools": ["change", "gone"] })).await;
    // The server removes the tool without a notification.
    call(&pool, "s.change", json!({ "tools": ["change"], "times": 0 })).await;
    let gone = call(&pool, "s.gone", json!({})).await;
    let error = gone.error().unwrap_or_else(|| panic!("{gone:?}"));
    assert_eq!(error.class(), ErrorClass::NotFound, "{error}");
}

#[tokio::test]
async fn concurrent_changes_are_merged_into_one_notification() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (pool, _manager) =
            with(json!({ "version": version, "tools": ["change", "echo"] })).await;
        let mut changes = pool.changes();
        let tools = json!(["change", "echo-strict", "slow"]);
        call(&pool, "s.change", json!({ "tools": tools, "times": 100 })).await;
        let change = in_time(changes.next()).await.unwrap();
        assert_eq!(change.added, ["s.echo-strict", "s.slow"], "{version}");
        assert_eq!(change.removed, ["s.echo"]);
        call(&pool, "s.change", json!({ "tools": tools, "times": 100 })).await;
        assert!(changes.try_next().is_none(), "the same again is no change");
    }
}

#[tokio::test]
async fn a_question_without_a_handler_is_declined() {
    let (pool, _manager) = with(json!({ "version": "2026-07-28", "tools": ["ask"] })).await;
    assert_eq!(text(&pool, "s.ask", json!({})).await, r#"{"action":"decline"}"#);
    let (pool, _manager) = with(json!({ "tools": ["ask"] })).await;
    let rejected = text(&pool, "s.ask", json!({})).await;
    assert!(rejected.contains("cannot ask its user"), "{rejected}");
}

#[tokio::test]
async fn closing_leaves_no_process() {
    let starts = starts("stays");
    let script = json!({ "tools": ["hang"], "starts": starts, "stays": true });
    let (pool, manager) = with(script).await;
    let hanging = tokio::spawn({
        let pool = pool.clone();
        async move { call(&pool, "s.hang", json!({})).await }
    });
    server_state(&manager, "s", |state| *state == McpState::Ready).await;
    manager.close().await;
    assert!(!is_running(&starts), "the process still runs");
    assert!(hanging.await.unwrap().is_error());
    assert!(pool.snapshot().tools().is_empty());
}

#[tokio::test]
async fn a_server_dropped_while_it_starts_ends() {
    let starts = starts("dropped");
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let sleeper = faulty(&json!({ "starts": starts, "slow": 60_000 }));
    let manager = McpManager::builder().server("s", sleeper).start(&pool).unwrap();
    let file = starts.clone();
    let started = tokio::task::spawn_blocking(move || eventually(|| count(&file) == 1));
    assert!(started.await.unwrap());
    manager.remove("s").await.unwrap();
    assert!(!is_running(&starts), "the process still runs");
}
