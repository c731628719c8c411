//! Each call has exactly one outcome: panics, time limits, cancellation, state, typed calls.

use super::support::{error_text, in_time, pool_of, text};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tool_runtime::prelude::*;

/// Panic.
#[tool(register = false)]
async fn panic_in_future() {
    panic!("the secret is 7");
}

/// Panic on another thread.
#[tool(register = false)]
fn panic_on_another_thread() -> String {
    panic!("the secret is {}", 7);
}

/// Panic before there is a future.
#[tool(register = false, inline)]
fn panic_inline() -> String {
    panic!("the secret is 7");
}

#[tokio::test]
async fn a_panic_is_an_error_without_details_for_the_model() {
    for (pool, name) in [
        (pool_of::<PanicInFutureAction>(), "panic_in_future"),
        (pool_of::<PanicOnAnotherThreadAction>(), "panic_on_another_thread"),
        (pool_of::<PanicInlineAction>(), "panic_inline"),
    ] {
        let result = pool.call(ToolCall::new(name, "")).await;
        let error = result.error().expect("an error");
        assert_eq!(error.class(), ErrorClass::Internal);
        assert!(!result.observation().to_text().contains("secret"));
        assert_eq!(error.detail(), Some("panicked: the secret is 7"));
    }
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panic when the call is cancelled.
#[tool(register = false, timeout = "10ms")]
async fn panic_when_cancelled() {
    let _guard = PanicsOnDrop;
    std::future::pending::<()>().await;
}

/// Panic with a payload that panics when it is dropped.
#[tool(register = false)]
async fn nested_panic() {
    std::panic::panic_any(PanicsOnDrop);
}

#[tokio::test]
async fn a_panic_during_cancellation_is_an_outcome() {
    for (pool, name) in [
        (pool_of::<PanicWhenCancelledAction>(), "panic_when_cancelled"),
        (pool_of::<NestedPanicAction>(), "nested_panic"),
    ] {
        let result = pool.call(ToolCall::new(name, "")).await;
        assert_eq!(result.error().expect("an error").class(), ErrorClass::Internal);
    }
    let error = PanicWhenCancelledAction {}.call(&pool_of::<PanicWhenCancelledAction>()).await;
    assert_eq!(error.expect_err("a panic").class(), ErrorClass::Internal);
}

#[test]
fn a_runtime_without_timers_gives_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let pool = ToolPool::builder().tool::<HangAction>().state(watched().0).build().expect("a pool");
    let result = runtime.block_on(pool.call(ToolCall::new("hang", "")));
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Internal);
}

#[tokio::test]
async fn a_call_without_time_is_not_started() {
    let pool = ToolPool::builder()
        .tool::<CountAction>()
        .state(Counter::default())
        .timeout(Duration::ZERO)
        .build()
        .expect("a pool");
    let result = pool.call(ToolCall::new("count", "{}")).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
    assert_eq!(pool.context().get::<Counter>().expect("state").0.load(Ordering::SeqCst), 0);
}

/// Sets a flag when dropped.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Watch {
    started: Notify,
    dropped: Arc<AtomicBool>,
}

/// Wait forever.
#[tool(register = false, timeout = "50ms")]
async fn hang(watch: &Watch) {
    let _guard = OnDrop(Arc::clone(&watch.dropped));
    watch.started.notify_one();
    std::future::pending::<()>().await;
}

/// Wait forever, without a limit.
#[tool(register = false)]
async fn hang_long(watch: &Watch) {
    let _guard = OnDrop(Arc::clone(&watch.dropped));
    watch.started.notify_one();
    std::future::pending::<()>().await;
}

fn watched() -> (Watch, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    (Watch { started: Notify::new(), dropped: Arc::clone(&dropped) }, dropped)
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_dropped() {
    let (watch, dropped) = watched();
    let pool = ToolPool::builder().tool::<HangAction>().state(watch).build().expect("a pool");
    let result = pool.call(ToolCall::new("hang", "")).await;
    let error = result.error().expect("an error");
    assert_eq!(error.class(), ErrorClass::Timeout);
    assert!(error.message().contains("`hang` did not answer within 50ms"), "{error}");
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn the_default_timeout_applies_to_tools_without_one() {
    let (watch, _) = watched();
    let pool = ToolPool::builder()
        .tool::<HangLongAction>()
        .state(watch)
        .timeout(Duration::from_millis(20))
        .build()
        .expect("a pool");
    let result = pool.call(ToolCall::new("hang_long", "")).await;
    assert!(result.error().expect("an error").message().contains("20ms"));
    let context = pool.context().with_deadline(Instant::now());
    let result = pool.call_with(ToolCall::new("hang_long", ""), &context).await;
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
}

#[tokio::test]
async fn a_cancelled_call_drops_the_tool() {
    let (watch, dropped) = watched();
    let pool = ToolPool::builder().tool::<HangLongAction>().state(watch).build().expect("a pool");
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let call = pool.call_with(ToolCall::new("hang_long", ""), &context);
    let cancel = async {
        context.get::<Watch>().expect("state").started.notified().await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    assert!(dropped.load(Ordering::SeqCst));
}

/// Wait until the caller gives up.
#[tool(register = false)]
fn wait_for_cancellation(context: &ToolContext, watch: &Watch) -> &'static str {
    watch.started.notify_one();
    while !context.is_cancelled() {
        std::thread::yield_now();
    }
    watch.dropped.store(true, Ordering::SeqCst);
    "stopped"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_function_can_ask_whether_it_was_cancelled() {
    let (watch, stopped) = watched();
    let pool = ToolPool::builder()
        .tool::<WaitForCancellationAction>()
        .state(watch)
        .build()
        .expect("a pool");
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let call = pool.call_with(ToolCall::new("wait_for_cancellation", ""), &context);
    let cancel = async {
        context.get::<Watch>().expect("state").started.notified().await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.error().expect("an error").class(), ErrorClass::Cancelled);
    while !stopped.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}

/// The way in which a caller ends a call.
enum End {
    Timeout,
    Deadline,
    Drop,
}

#[tokio::test(start_paused = true)]
async fn a_plain_function_notices_every_end_of_its_call() {
    let limit = Duration::from_millis(20);
    for end in [End::Timeout, End::Deadline, End::Drop] {
        let (watch, stopped) = watched();
        let mut builder = ToolPool::builder().tool::<WaitForCancellationAction>().state(watch);
        if matches!(end, End::Timeout) {
            builder = builder.timeout(limit);
        }
        let pool = builder.build().expect("a pool");
        let mut context = pool.context();
        if matches!(end, End::Deadline) {
            context = context.with_deadline((tokio::time::Instant::now() + limit).into_std());
        }
        let call = pool.call_with(ToolCall::new("wait_for_cancellation", ""), &context);
        // A paused clock stands still while a plain function runs.
        let started = in_time(context.get::<Watch>().expect("state").started.notified());
        if matches!(end, End::Drop) {
            tokio::select! {
                _ = call => panic!("it never ends by itself"),
                () = started => {}
            }
        } else {
            let expired = async {
                started.await;
                tokio::time::advance(limit).await;
            };
            let (result, ()) = tokio::join!(call, expired);
            assert_eq!(result.error().expect("an error").class(), ErrorClass::Timeout);
        }
        while !stopped.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }
}

/// Report whether the deadline is within an hour.
#[tool(register = false, timeout = "1h")]
async fn deadline_is_set(context: &ToolContext) -> bool {
    let time_left = context.deadline().map(|deadline| deadline - Instant::now());
    time_left.is_some_and(|time_left| time_left <= Duration::from_secs(3600))
}

#[tokio::test]
async fn a_tool_sees_its_deadline() {
    assert_eq!(text(&pool_of::<DeadlineIsSetAction>(), "deadline_is_set", "").await, "true");
}

/// Return the id of its thread.
#[tool(register = false)]
fn thread_id() -> String {
    format!("{:?}", std::thread::current().id())
}

/// Return the id of its thread.
#[tool(register = false, inline)]
fn inline_thread_id() -> String {
    format!("{:?}", std::thread::current().id())
}

#[tokio::test]
async fn a_plain_function_runs_on_another_thread_unless_inline() {
    let own_thread = format!("{:?}", std::thread::current().id());
    assert_ne!(text(&pool_of::<ThreadIdAction>(), "thread_id", "").await, own_thread);
    assert_eq!(text(&pool_of::<InlineThreadIdAction>(), "inline_thread_id", "").await, own_thread);
}

#[derive(Default)]
struct Counter(AtomicUsize);

type Shared = Counter;

/// Count.
#[tool(register = false)]
async fn count(
    context: &ToolContext,
    counter: &Shared,
    /// By how much.
    #[arg(default = 1)]
    by: usize,
) -> String {
    let before = counter.0.fetch_add(by, Ordering::SeqCst);
    format!("{}: {}", context.call_id().unwrap_or("-"), before + by)
}

#[tokio::test]
async fn state_is_shared_by_the_calls_of_one_pool_only() {
    let build = || {
        ToolPool::builder().tool::<CountAction>().state(Counter::default()).build().expect("a pool")
    };
    let (one, other) = (build(), build());
    assert_eq!(text(&one, "count", "{}").await, "-: 1");
    let result = one.call(ToolCall::new("count", r#"{"by":2}"#).with_call_id("call_7")).await;
    assert_eq!(result.observation().to_text(), "call_7: 3");
    assert_eq!(result.call_id(), "call_7");
    assert_eq!(text(&other, "count", "{}").await, "-: 1");
}

#[tokio::test]
async fn the_function_stays_callable() {
    let context = ToolContext::default().with_call_id("t");
    let counter = Counter::default();
    assert_eq!(count(&context, &counter, 5).await, "t: 5");
}

/// Divide.
#[tool(register = false)]
async fn divide(
    /// The number to divide.
    a: i64,
    /// The number to divide by.
    #[arg(range = -9..=9)]
    b: i64,
) -> Result<i64, String> {
    a.checked_div(b).ok_or_else(|| "by zero".to_owned())
}

#[tokio::test]
async fn a_typed_call_takes_the_same_stages() {
    let pool = pool_of::<DivideAction>();
    assert_eq!(DivideAction { a: 8, b: 2 }.call(&pool).await.expect("dispatched"), 4);
    let error = DivideAction { a: 8, b: 0 }.call(&pool).await.expect_err("the tool's own error");
    assert_eq!((error.class(), error.message()), (ErrorClass::Tool, "by zero"));
    let error = DivideAction { a: 8, b: 100 }.call(&pool).await.expect_err("out of range");
    assert_eq!(error.class(), ErrorClass::Input);
    assert_eq!(error.issues()[0].message(), "`b` must be at most 9, got 100");
    let empty = ToolPool::builder().build().expect("a pool");
    let error = DivideAction { a: 1, b: 1 }.call(&empty).await.expect_err("not there");
    assert_eq!(error.class(), ErrorClass::NotFound);
    // Another tool in its place is called by its name.
    let other = |answer: &'static str| {
        let handler = move |_: serde_json::Map<String, serde_json::Value>| async move { answer };
        let other = Tool::builder("divide", "Another one.").handler(handler);
        ToolPool::builder().add(other).build().expect("a pool")
    };
    assert_eq!(DivideAction { a: 1, b: 1 }.call(&other("7")).await.expect("a number"), 7);
    let error = DivideAction { a: 1, b: 1 }.call(&other("no")).await.expect_err("not a number");
    assert_eq!(error.message(), "the result of `divide` is not of the expected type");
}

/// An action that is written by hand.
#[derive(serde::Serialize)]
struct Halve {
    number: i64,
}

impl CallAction for Halve {
    const TOOL: &'static str = "halve";
    type Value = i64;
}

impl tool_runtime::dispatch::TypedArguments for Halve {
    fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}

#[tokio::test]
async fn a_typed_call_can_be_written_by_hand() {
    let halve = |arguments: serde_json::Map<String, serde_json::Value>| async move {
        arguments["number"].as_i64().unwrap_or_default() / 2
    };
    let halve = Tool::builder("halve", "Halve a number.").handler(halve);
    let pool = ToolPool::builder().add(halve).build().expect("a pool");
    assert_eq!(Halve { number: 84 }.call(&pool).await.expect("a number"), 42);
}

#[tokio::test]
async fn an_unknown_tool_names_the_nearest() {
    let pool = ToolPool::builder()
        .tool::<DivideAction>()
        .tool::<CountAction>()
        .state(Counter::default())
        .build()
        .expect("a pool");
    assert_eq!(
        error_text(&pool, "devide", "").await,
        "unknown tool `devide`; did you mean `divide`?"
    );
    assert_eq!(
        error_text(&pool, "zzz", "").await,
        "unknown tool `zzz`; the tools are `count`, `divide`"
    );
    let tool = |name: &str| Tool::builder(name, "Answer.").handler(|| async { 1 });
    let pool = ToolPool::builder().add(tool("a.one")).add(tool("b.two")).build().expect("a pool");
    // Names of the same group come first.
    assert_eq!(
        error_text(&pool, "b.zzzzz", "").await,
        "unknown tool `b.zzzzz`; the tools are `b.two`, `a.one`"
    );
}

/// Show a sum.
#[tool(register = false, visualize = as_sum)]
async fn sum(
    /// First.
    a: i64,
    /// Second.
    b: i64,
) -> Observation {
    Observation::text((a + b).to_string()).with_visual(format!("= {}", a + b))
}

fn as_sum(action: &SumAction) -> String {
    format!("{} + {}", action.a, action.b)
}

#[tokio::test]
async fn a_call_and_its_result_have_readable_text() {
    let pool = pool_of::<SumAction>();
    let tool = pool.get("sum").expect("the tool");
    assert_eq!(tool.visualize(r#"{"a":1,"b":2}"#), "1 + 2");
    assert_eq!(tool.visualize(r#"{"a":"x"}"#), r#"sum(a: "x")"#);
    let result = pool.call(ToolCall::new("sum", r#"{"a":1,"b":2}"#)).await;
    assert_eq!(result.observation().visualize(), "= 3");
    assert_eq!(result.observation().to_text(), "3");
    assert!(!pool.call_json("sum", r#"{"a":1,"b":2}"#).await.contains('='));
}
