//! Blocking calls from threads.

use super::support::{blocking_in_time, class};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::dispatch::BlockingPool;
use tool_runtime::hook::{Hook, HookCall};
use tool_runtime::mcp::{McpManager, McpServerConfig, McpState};
use tool_runtime::prelude::*;

/// Answer at once.
#[tool(read_only, register = false)]
async fn ping() -> &'static str {
    "pong"
}

/// Answer from the blocking pool.
#[tool(read_only, register = false)]
fn plain_ping() -> &'static str {
    "pong"
}

/// Answer after a moment.
#[tool(read_only, register = false)]
async fn wait(
    /// The number of seconds.
    millis: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    format!("waited {millis}")
}

/// Never answer.
#[tool(read_only, register = false)]
async fn hang(dropped: &Dropped) {
    let _guard = dropped.clone();
    std::future::pending::<()>().await;
}

/// Sends a message when dropped.
#[derive(Clone)]
struct Dropped(Sender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // The receiver may be gone.
        let _ = self.0.send(());
    }
}

/// Blocks callers until it is released.
struct Gate(Mutex<Receiver<()>>);

/// Block the thread.
#[tool(register = false, inline)]
fn block(gate: &Gate) -> &'static str {
    // The sender is gone when the test has ended.
    let _ = gate.0.lock().unwrap().recv();
    "let go"
}

fn builder() -> (ToolPoolBuilder, Receiver<()>, Sender<()>) {
    let ((dropped, received), (release, gate)) = (channel(), channel());
    let builder = ToolPool::builder()
        .tool::<PingAction>()
        .tool::<PlainPingAction>()
        .tool::<WaitAction>()
        .tool::<HangAction>()
        .tool::<BlockAction>()
        .state(Dropped(dropped))
        .state(Gate(Mutex::new(gate)));
    (builder, received, release)
}

fn blocking() -> (BlockingPool, Receiver<()>, Sender<()>) {
    let (builder, received, release) = builder();
    (builder.build().expect("a pool").blocking().expect("a thread"), received, release)
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.observation().to_text()).collect()
}

/// Calls a tool of each kind, and one that fails.
fn check(pool: &BlockingPool) {
    assert_eq!(pool.call(ToolCall::new("ping", "").with_call_id("1")).call_id(), "1");
    assert_eq!(pool.call(ToolCall::new("plain_ping", "")).observation().to_text(), "pong");
    assert!(pool.call_json("ping", "").contains("pong"));
    let results = pool.call_all([
        ToolCall::new("wait", r#"{"millis":20}"#),
        ToolCall::new("pong", ""),
        ToolCall::new("wait", r#"{"millis":1}"#),
    ]);
    assert_eq!(texts(&results[..1]), ["waited 20"]);
    assert_eq!(class(&results[1]), ErrorClass::NotFound);
    assert_eq!(texts(&results[2..]), ["waited 1"]);
    assert!(pool.call_all([]).is_empty());
}

#[test]
fn calls_work_from_a_plain_thread() {
    blocking_in_time(|| {
        let (pool, _guard, _release) = blocking();
        check(&pool);
        let (pool, _guard, _release) = blocking();
        check(&pool.with_timeout(Duration::from_secs(60)));
    });
}

#[test]
fn calls_work_from_many_threads_at_once() {
    blocking_in_time(|| {
        let (pool, _guard, _release) = blocking();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| check(&pool));
            }
        });
    });
}

#[tokio::test]
async fn calls_work_inside_a_runtime_with_one_thread() {
    let (pool, _guard, _release) = blocking();
    check(&pool);
    check(&pool.with_timeout(Duration::from_secs(60)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn calls_work_inside_a_runtime_with_many_threads() {
    let (pool, _guard, _release) = blocking();
    let pool = Arc::new(pool);
    let inside = Arc::clone(&pool);
    tokio::spawn(async move { check(&inside) }).await.expect("no panic");
    let on_blocking_pool = tokio::task::spawn_blocking(move || check(&pool));
    on_blocking_pool.await.expect("no panic");
}

/// A time limit that a call exceeds only if it waits.
const LIMIT: Duration = Duration::from_secs(2);

#[test]
fn a_slow_call_times_out_and_is_dropped() {
    let (pool, received, _release) = blocking();
    let pool = pool.with_timeout(LIMIT);
    let result = pool.call(ToolCall::new("hang", "").with_call_id("1"));
    assert_eq!((class(&result), result.call_id()), (ErrorClass::Timeout, "1"));
    received.recv_timeout(Duration::from_secs(60)).expect("the call was dropped");
    assert_eq!(pool.call(ToolCall::new("ping", "")).observation().to_text(), "pong");
}

#[test]
fn a_blocking_tool_does_not_delay_other_calls() {
    for runtime in [None, Some(tokio::runtime::Builder::new_current_thread().build().unwrap())] {
        let _inside = runtime.as_ref().map(tokio::runtime::Runtime::enter);
        let (pool, _guard, release) = blocking();
        let pool = pool.with_timeout(LIMIT);
        let calls =
            ["ping", "block", "ping"].map(|name| ToolCall::new(name, "").with_call_id(name));
        let results = pool.call_all(calls);
        let ids: Vec<&str> = results.iter().map(ToolResult::call_id).collect();
        assert_eq!(ids, ["ping", "block", "ping"]);
        // A call that has ended by then keeps its result.
        assert_eq!(texts(&results[..1]), ["pong"]);
        assert_eq!(class(&results[1]), ErrorClass::Timeout);
        assert_eq!(class(&results[2]), ErrorClass::Timeout);
        assert_eq!(pool.call(ToolCall::new("ping", "")).observation().to_text(), "pong");
        drop(release);
    }
}

#[test]
fn a_call_without_a_limit_waits() {
    blocking_in_time(|| {
        let (pool, _guard, release) = blocking();
        thread::scope(|scope| {
            let call = scope.spawn(|| pool.call(ToolCall::new("block", "")));
            release.send(()).expect("the call waits");
            assert_eq!(call.join().expect("no panic").observation().to_text(), "let go");
        });
    });
}

/// The pool that a tool calls back into.
#[derive(Clone, Default)]
struct OwnPool(Arc<OnceLock<BlockingPool>>);

/// Call `ping` from a plain function.
#[tool(register = false)]
fn relay(own: &OwnPool) -> String {
    let pool = own.0.get().expect("set");
    texts(&pool.call_all(vec![ToolCall::new("ping", ""); 2])).join(" ")
}

/// Call `ping` from the thread of the runtime.
#[tool(register = false, inline)]
fn relay_inline(own: &OwnPool) -> String {
    own.0.get().expect("set").call(ToolCall::new("plain_ping", "")).observation().to_text()
}

#[test]
fn calls_work_inside_a_tool() {
    let own_pool = OwnPool::default();
    let (builder, _guard, _release) = builder();
    let pool = builder
        .tool::<RelayAction>()
        .tool::<RelayInlineAction>()
        .state(own_pool.clone())
        .build()
        .expect("a pool");
    own_pool.0.set(pool.blocking().expect("a thread")).expect("set once");
    let pool = pool.blocking().expect("a thread");
    assert_eq!(pool.call(ToolCall::new("relay", "")).observation().to_text(), "pong pong");
    assert_eq!(pool.call(ToolCall::new("relay_inline", "")).observation().to_text(), "pong");
    let pool_inside = own_pool.0.get().expect("set");
    assert_eq!(pool_inside.call(ToolCall::new("relay", "")).observation().to_text(), "pong pong");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let result = runtime.block_on(pool_inside.pool().call(ToolCall::new("relay", "")));
    assert_eq!(result.observation().to_text(), "pong pong");
    let result = runtime.block_on(pool_inside.pool().call(ToolCall::new("relay_inline", "")));
    assert_eq!(result.observation().to_text(), "pong");
}

#[tokio::test]
async fn hooks_and_limits_apply_to_blocking_calls() {
    let deny = |_: HookCall| async { tool_runtime::hook::Before::deny("no") };
    let (builder, _guard, _release) = builder();
    let pool = builder.hook(Hook::before("ping", deny)).build().expect("a pool");
    let pool = pool.blocking().expect("a thread");
    assert_eq!(class(&pool.call(ToolCall::new("ping", ""))), ErrorClass::Denied);
    let _only = pool.pool().restrict(["ping"]).expect("a pattern");
    assert_eq!(class(&pool.call(ToolCall::new("wait", "{}"))), ErrorClass::Denied);
}

#[test]
fn calls_after_the_pool_is_closed_are_answered() {
    let (pool, _guard, _release) = blocking();
    pool.close();
    pool.close();
    for result in pool.call_all(vec![ToolCall::new("ping", ""); 2]) {
        assert_eq!(class(&result), ErrorClass::Cancelled);
    }
}

#[test]
fn dropping_a_pool_does_not_wait() {
    blocking_in_time(|| {
        let (pool, _guard, release) = blocking();
        let pool = pool.with_timeout(Duration::from_millis(10));
        assert_eq!(class(&pool.call(ToolCall::new("block", ""))), ErrorClass::Timeout);
        let tools = pool.pool().clone();
        // The tool blocks until the end of the test.
        drop(pool);
        // The tools are still in the pool.
        let again = tools.blocking().expect("a thread");
        assert_eq!(again.call(ToolCall::new("ping", "")).observation().to_text(), "pong");
        drop(release);
    });
}

#[tokio::test]
async fn a_pool_can_be_dropped_inside_of_a_runtime() {
    let (pool, received, _release) = blocking();
    let pool = pool.with_timeout(Duration::from_millis(10));
    assert_eq!(class(&pool.call(ToolCall::new("hang", ""))), ErrorClass::Timeout);
    let _tools = pool.pool().clone();
    drop(pool);
    received.recv_timeout(Duration::from_secs(60)).expect("the call was dropped");
}

/// Connects, calls a tool, reconnects and disconnects.
fn check_servers(pool: &BlockingPool) {
    let script = r#"{"tools": ["echo"]}"#;
    let server = McpServerConfig::stdio(env!("CARGO_BIN_EXE_faulty_server")).args([script]);
    let builder = McpManager::builder().server("remote", server);
    let manager = pool.block_on(builder.connect(pool.pool())).expect("a manager");
    let echo = || pool.call_json("remote.echo", r#"{"a":1}"#);
    assert!(echo().contains("{\\\"a\\\":1}"), "{}", echo());
    pool.block_on(manager.reconnect("remote")).expect("it is known");
    pool.block_on(manager.settled());
    assert_eq!(manager.status()[0].state, McpState::Ready);
    assert!(echo().contains("{\\\"a\\\":1}"), "{}", echo());
    assert!(pool.block_on(manager.disable("near")).is_err());
    pool.block_on(manager.close());
    assert!(pool.pool().get("remote.echo").is_none());
}

fn without_tools() -> BlockingPool {
    ToolPool::builder().allow_empty().build().expect("a pool").blocking().expect("a thread")
}

#[test]
fn external_servers_are_connected_from_a_plain_thread() {
    blocking_in_time(|| {
        check_servers(&without_tools());
        check_servers(&without_tools().with_timeout(Duration::from_secs(60)));
    });
}

#[tokio::test]
async fn external_servers_are_connected_from_inside_of_a_runtime() {
    check_servers(&without_tools());
}

#[tokio::test]
async fn a_panic_of_an_awaited_task_resumes_in_the_caller() {
    let pool = without_tools();
    let waits = std::panic::AssertUnwindSafe(|| pool.block_on(async { panic!("boom") }));
    let panic = std::panic::catch_unwind(waits).expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"boom"));
    assert_eq!(pool.block_on(async { 7 }), 7);
}
