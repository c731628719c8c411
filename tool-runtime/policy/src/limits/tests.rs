//! The life of counters: calls that do not start, sessions that end, limits that change.

use crate::tests::yaml;
use crate::{LimitKeeper, Policies};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tool_runtime_core::govern::{CallEvent, CallStage, Receipt, RecordError, Recorder};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Observation, Tool, ToolCall};
use tool_runtime_core::vocabulary::error::ErrorClass;

/// A clock that stands until it is moved.
#[derive(Clone)]
struct Clock(Arc<Mutex<Instant>>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn advance(&self, seconds: u64) {
        *self.0.lock().unwrap() += Duration::from_secs(seconds);
    }

    fn keeper(&self) -> LimitKeeper {
        let clock = self.clone();
        LimitKeeper::new().clock(move || *clock.0.lock().unwrap())
    }
}

fn pool(tool: Tool, limit: &str, keeper: &LimitKeeper) -> ToolPool {
    let policy = yaml(&format!("rules: [{{id: r, then: allow, {limit}}}]"));
    let policies = Policies::new().policy(policy).limits(keeper.clone());
    ToolPool::builder().add(tool).install(policies).build().unwrap()
}

fn ping() -> Tool {
    Tool::builder("t", "Answer at once.").handler(|| async { "pong" })
}

/// Whether a call runs. If not, a limit is used up.
async fn runs(pool: &ToolPool) -> bool {
    let result = pool.call(ToolCall::new("t", "")).await;
    assert!(
        result.error().is_none_or(|error| error.class() == ErrorClass::RateLimited),
        "{result:?}"
    );
    !result.is_error()
}

#[tokio::test]
async fn a_window_is_full_until_its_oldest_call_is_over() {
    let clock = Clock::new();
    let pool = pool(ping(), "rate_limit: {max: 2, window: 1m}", &clock.keeper());
    assert!(runs(&pool).await);
    clock.advance(30);
    assert!(runs(&pool).await);
    clock.advance(29);
    assert!(!runs(&pool).await);
    clock.advance(1);
    assert!(runs(&pool).await, "the first call is a minute ago");
    assert!(!runs(&pool).await, "the second is not");
}

#[tokio::test]
async fn a_bucket_refills_evenly_and_no_further_than_its_amount() {
    let clock = Clock::new();
    let pool = pool(ping(), "rate_limit: {max: 2, window: 1m, kind: bucket}", &clock.keeper());
    assert!(runs(&pool).await && runs(&pool).await && !runs(&pool).await);
    clock.advance(29);
    assert!(!runs(&pool).await);
    clock.advance(1);
    assert!(runs(&pool).await && !runs(&pool).await);
    clock.advance(3600);
    assert!(runs(&pool).await && runs(&pool).await && !runs(&pool).await);
}

#[tokio::test]
async fn a_refusal_names_the_limit_and_the_time_to_wait() {
    let keeper = Clock::new().keeper();
    for (limit, text) in [
        (
            "rate_limit: {max: 1, window: 1m}",
            "the limit of 1 calls in 60s (rule `r`) is used up; try again in 60.001s",
        ),
        (
            "rate_limit: {max: 1, window: 1m, kind: bucket, per: rule}",
            "the limit of 1 calls in 60s (rule `r`) is used up; try again in 60.001s",
        ),
        ("budget: {calls: 1, per: tool}", "the budget of 1 calls (rule `r`) is used up"),
    ] {
        let pool = pool(ping(), limit, &keeper);
        assert!(runs(&pool).await, "{limit}");
        let refused = pool.call(ToolCall::new("t", "")).await.observation().to_text();
        assert_eq!(refused, format!("`t` was not run: {text}"), "{limit}");
    }
}

#[tokio::test]
async fn a_limit_that_changes_its_kind_starts_again_and_one_that_changes_its_amount_does_not() {
    let clock = Clock::new();
    let keeper = clock.keeper();
    let with = |limit: &str| pool(ping(), limit, &keeper);
    let window = with("rate_limit: {max: 1, window: 1m, per: rule}");
    assert!(runs(&window).await && !runs(&window).await);
    let bucket = with("rate_limit: {max: 1, window: 1m, kind: bucket, per: rule}");
    assert!(runs(&bucket).await && !runs(&bucket).await, "a bucket is full at first");
    assert!(runs(&window).await && !runs(&window).await, "and the window is empty again");
    let wider = with("rate_limit: {max: 2, window: 1m, per: rule}");
    assert!(runs(&wider).await && !runs(&wider).await, "the call before counts");
}

/// Refuses the first start.
#[derive(Default)]
struct FirstLost(AtomicBool);

impl Recorder for FirstLost {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let is_start = matches!(event.stage, CallStage::Started { .. });
        match is_start && !self.0.swap(true, Ordering::Relaxed) {
            true => Receipt::refused(RecordError::new("the disk is full").for_all_calls()),
            false => Receipt::recorded(),
        }
    }
}

#[tokio::test]
async fn a_call_that_does_not_start_is_refunded() {
    for limit in [
        "rate_limit: {max: 1, window: 1h}",
        "rate_limit: {max: 1, window: 1h, kind: bucket}",
        "budget: {calls: 1}",
        "budget: {tokens: 1}",
    ] {
        let keeper = LimitKeeper::new();
        let policy = yaml(&format!("rules: [{{id: r, then: allow, {limit}}}]"));
        let policies = Policies::new().policy(policy).limits(keeper.clone());
        let builder = ToolPool::builder().add(ping()).install(policies);
        let pool = builder.recorder(FirstLost::default()).build().unwrap();
        assert!(pool.call(ToolCall::new("t", "")).await.is_error(), "{limit}");
        assert_eq!((keeper.used("r#0"), keeper.running()), (0, 0), "{limit}");
        assert!(runs(&pool).await && !runs(&pool).await, "{limit}");
        assert_eq!(keeper.running(), 0, "{limit}");
    }
}

#[tokio::test]
async fn a_cost_counts_when_the_call_ends_and_is_never_negative() {
    let costs = |cost: f64| {
        let run = move || async move { Observation::text("").with_meta("tool-runtime/cost", cost) };
        Tool::builder("t", "Cost money.").handler(run)
    };
    for (cost, used) in [(0.25, 250_000), (-5.0, 0), (0.000_000_1, 1)] {
        let keeper = LimitKeeper::new();
        let pool = pool(costs(cost), "budget: {cost: 1.0}", &keeper);
        assert!(runs(&pool).await);
        assert_eq!(keeper.used("r#0"), used, "{cost}");
    }
    let keeper = LimitKeeper::new();
    let pool = pool(costs(0.5), "budget: {cost: 1.0}", &keeper);
    assert!(runs(&pool).await && runs(&pool).await && !runs(&pool).await);
}

#[tokio::test]
async fn the_counters_of_a_session_end_with_it() {
    let keeper = LimitKeeper::new();
    for (limit, key) in [
        ("budget: {calls: 1, per: session}", "r#0/session="),
        ("rate_limit: {max: 1, window: 1h, per: session}", "r#0/session="),
    ] {
        let pool = pool(ping(), limit, &keeper);
        let (one, other) = (pool.session(), pool.session());
        assert!(runs(one.pool()).await && !runs(one.pool()).await, "{limit}");
        assert!(runs(other.pool()).await, "another session has a share of its own");
        assert_eq!(keeper.counters(key), 2, "{limit}");
        one.close().await;
        assert_eq!(keeper.counters(key), 1, "{limit}");
        other.close().await;
        assert_eq!(keeper.counters(key), 0, "{limit}");
    }
}

#[tokio::test]
async fn a_call_that_outlives_its_session_leaves_no_counter() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tells, waits) = (Arc::clone(&begun), Arc::clone(&go_on));
    let run = move || {
        let (tells, waits) = (Arc::clone(&tells), Arc::clone(&waits));
        async move {
            tells.notify_one();
            waits.notified().await;
            "words ".repeat(50)
        }
    };
    let slow = Tool::builder("t", "Wait.").handler(run);
    let keeper = LimitKeeper::new();
    let pool = pool(slow, "budget: {tokens: 10, per: session}", &keeper);
    let session = pool.session();
    let inner = session.pool().clone();
    let call = tokio::spawn(async move { inner.call(ToolCall::new("t", "")).await });
    begun.notified().await;
    assert_eq!((keeper.counters("r#0"), keeper.running()), (1, 1));
    let closed = tokio::spawn(async move { session.close().await });
    go_on.notify_one();
    closed.await.unwrap();
    let _ = call.await.unwrap();
    assert_eq!((keeper.counters("r#0"), keeper.running()), (0, 0));
}

#[tokio::test]
async fn a_budget_of_time_ends_with_the_call_that_uses_it_up() {
    let slow = Tool::builder("t", "Take time.").handler(|| async {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(2) {}
    });
    let keeper = LimitKeeper::new();
    let pool = pool(slow, "budget: {time: 1ms}", &keeper);
    assert!(runs(&pool).await);
    assert!(keeper.used("r#0") >= 2);
    let refused = pool.call(ToolCall::new("t", "")).await.observation().to_text();
    assert_eq!(refused, "`t` was not run: the budget of 1ms (rule `r`) is used up");
}
