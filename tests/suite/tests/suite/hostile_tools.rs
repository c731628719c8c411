//! Tools and callers that misuse a pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::ToolSpec;
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{BoxFuture, CallError};

/// Time limit that only a hanging test reaches.
const HANGING: Duration = Duration::from_secs(300);

/// Blocks the thread of a plain function until the test opens it.
struct Gate {
    inside: AtomicUsize,
    most: AtomicUsize,
    started: Sender<()>,
    go: Mutex<Receiver<()>>,
}

/// Write slowly, on a separate thread.
#[tool(register = false, writes("k:{key}"))]
fn slow(
    /// The number.
    key: String,
    gate: &Gate,
) -> String {
    let inside = gate.inside.fetch_add(1, Ordering::SeqCst) + 1;
    gate.most.fetch_max(inside, Ordering::SeqCst);
    gate.started.send(()).expect("the test listens");
    gate.go.lock().expect("one at a time").recv().expect("the test lets it go");
    gate.inside.fetch_sub(1, Ordering::SeqCst);
    key
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_plain_function_keeps_its_keys() {
    let ((started, is_started), (go, may_go)) = (channel(), channel());
    let gate = Gate {
        inside: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        started,
        go: Mutex::new(may_go),
    };
    let pool = ToolPool::builder().tool::<SlowAction>().state(gate).build().expect("a pool");
    let call = || ToolCall::json("slow", serde_json::json!({ "key": "a" }));
    let token = CancellationToken::new();
    let first = tokio::spawn({
        let (pool, context) = (pool.clone(), pool.context().with_cancellation(token.clone()));
        async move { pool.call_with(call(), &context).await }
    });
    is_started.recv_timeout(HANGING).expect("the first runs");
    token.cancel();
    let given_up = first.await.expect("no panic");
    assert_eq!(given_up.error().expect("an error").class(), ErrorClass::Cancelled);
    let second = tokio::spawn({
        let pool = pool.clone();
        async move { pool.call(call()).await }
    });
    // The second call begins only after the first is released.
    go.send(()).expect("the first waits");
    is_started.recv_timeout(HANGING).expect("the second runs");
    go.send(()).expect("the second waits");
    assert!(!second.await.expect("no panic").is_error());
    let context = pool.context();
    assert_eq!(context.get::<Gate>().expect("state").most.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_destructor_does_not_end_the_batch() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("boom");
        }
    }
    /// Hold a key forever.
    #[tool(register = false, writes("k:{key}"))]
    async fn hold(
        /// The number.
        key: String,
        /// Whether to panic when dropped.
        panics: bool,
    ) {
        let _guard = panics.then_some(PanicsOnDrop);
        drop(key);
        std::future::pending::<()>().await;
    }
    /// Write a key.
    #[tool(register = false, writes("k:{key}"))]
    async fn write(
        /// The number.
        key: String,
    ) -> String {
        key
    }
    let pool =
        ToolPool::builder().tool::<HoldAction>().tool::<WriteAction>().build().expect("a pool");
    let hold = |key: &str, panics: bool| {
        ToolCall::json("hold", serde_json::json!({ "key": key, "panics": panics }))
    };
    let calls = [hold("a", false), hold("b", true), hold("c", false)];
    let batch = tokio::time::timeout(Duration::from_millis(20), pool.call_all(calls));
    assert!(batch.await.is_err());
    for key in ["a", "b", "c"] {
        let call = pool.call(ToolCall::json("write", serde_json::json!({ "key": key })));
        let result = tokio::time::timeout(Duration::from_secs(30), call).await;
        assert!(!result.expect("the key is released").is_error());
    }
}

#[tokio::test]
async fn a_hook_finds_a_word_in_any_spelling() {
    let read = Tool::builder("read", "Read.")
        .input_schema(serde_json::json!({ "type": "object" }))
        .handler(|_: serde_json::Map<String, serde_json::Value>| async { "read" });
    let guard = Hook::before("read", |call: HookCall| async move {
        if call.arguments().contains("..") { Before::deny("no") } else { Before::proceed() }
    });
    let pool = ToolPool::builder().add(read).hook(guard).build().expect("a pool");
    for path in ["../etc", r"\u002e\u002e/etc", r"\u002e./etc"] {
        let result = pool.call(ToolCall::new("read", format!(r#"{{"path":"{path}"}}"#))).await;
        assert_eq!(result.error().expect("denied").class(), ErrorClass::Denied, "{path}");
    }
}

#[tokio::test]
async fn default_visuals_hide_secrets() {
    struct Silent;
    impl Executor for Silent {
        fn call<'a>(
            &'a self,
            _: Arguments<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<Observation, CallError>> {
            Box::pin(std::future::ready(Ok(Observation::text("in"))))
        }
    }
    let definition = ToolDefinition::new("login", "Log in.").with_input_schema(serde_json::json!({
        "type": "object",
        "properties": { "password": { "type": "string", "writeOnly": true } }
    }));
    let seen = Arc::new(Mutex::new(String::new()));
    let see = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest| {
        *see.lock().expect("no panic") = request.visual().to_owned();
        std::future::ready(Approval::approved())
    };
    let pool = ToolPool::builder()
        .add(Tool::new(definition, Silent))
        .hook(Hook::before("*", |_: HookCall| async { Before::ask("may it?") }))
        .approver(approver)
        .build()
        .expect("a pool");
    let call = ToolCall::new("login", r#"{"password":"hunter2"}"#);
    assert!(!format!("{call:?}").contains("hunter2"));
    assert!(!format!("{:?}", pool.batch([call.clone()])).contains("hunter2"));
    assert!(!format!("{:?}", ToolSpec::new("a").with("key", "hunter2")).contains("hunter2"));
    pool.call(call).await;
    assert_eq!(*seen.lock().expect("no panic"), "login(password: ***)");
}

#[tokio::test]
async fn a_nested_call_may_use_resources_of_its_caller() {
    /// Write.
    #[tool(register = false, writes("k:a"))]
    async fn inner() -> i64 {
        1
    }
    /// Write, and call a tool that writes the same key.
    #[tool(register = false, writes("k:a"))]
    async fn outer(context: &ToolContext, own: &Arc<std::sync::OnceLock<ToolPool>>) -> i64 {
        let pool = own.get().expect("the pool is there");
        InnerAction {}.call_with(pool, context).await.expect("a result")
    }
    let own_pool: Arc<std::sync::OnceLock<ToolPool>> = Arc::default();
    let pool = ToolPool::builder()
        .tool::<InnerAction>()
        .tool::<OuterAction>()
        .state(Arc::clone(&own_pool))
        .build()
        .expect("a pool");
    own_pool.set(pool.clone()).expect("it is set once");
    let call = pool.call(ToolCall::new("outer", ""));
    let result = tokio::time::timeout(Duration::from_secs(30), call).await.expect("no deadlock");
    assert_eq!(result.observation().to_text(), "1");
}

#[test]
fn a_large_batch_of_mixed_calls_is_fast() {
    let tool = |name: &str, read_only: bool| {
        Tool::builder(name, "Answer.").read_only(read_only).handler(|| async { "done" })
    };
    let pool = ToolPool::builder().add(tool("look", true)).add(tool("do", false)).build();
    let pool = pool.expect("a pool");
    let calls = (0..3000).map(|n| ToolCall::new(if n % 3 == 2 { "do" } else { "look" }, ""));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let results = runtime.expect("a runtime").block_on(pool.call_all(calls));
    assert_eq!(results.len(), 3000);
    assert!(results.iter().all(|result| !result.is_error()));
}

#[tokio::test]
async fn endless_recursion_through_the_context_ends() {
    let own_pool: Arc<std::sync::OnceLock<ToolPool>> = Arc::default();
    let again = Arc::clone(&own_pool);
    let endless = Tool::builder("endless", "Call itself.").handler(
        move |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| {
            let again = Arc::clone(&again);
            async move {
                let pool = again.get().expect("the pool is there");
                let result = Box::pin(pool.call_with(ToolCall::new("endless", ""), &context)).await;
                result.observation().to_text()
            }
        },
    );
    let pool = ToolPool::builder().add(endless).build().expect("a pool");
    own_pool.set(pool.clone()).expect("it is set once");
    let result = pool.call(ToolCall::new("endless", "")).await;
    assert!(result.observation().to_text().starts_with("calls nest deeper than 16"));
}
