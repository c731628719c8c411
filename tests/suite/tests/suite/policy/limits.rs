//! Rates and budgets.

use super::{builder, fate, reading, yaml};
use crate::support::class;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tool_runtime::Principal;
use tool_runtime::govern::{Approval, ApprovalRequest, RecordError};
use tool_runtime::policy::{BudgetStore, LimitKeeper, Policies};
use tool_runtime::prelude::*;
use tool_runtime::tool::Execution;

/// A clock that stands until it is moved.
#[derive(Clone)]
struct Clock(Instant, Arc<AtomicU64>);

impl Clock {
    fn new() -> Self {
        Self(Instant::now(), Arc::default())
    }

    fn advance(&self, seconds: u64) {
        self.1.fetch_add(seconds, Ordering::Relaxed);
    }

    fn keeper(&self) -> LimitKeeper {
        let Self(start, seconds) = self.clone();
        LimitKeeper::new()
            .clock(move || start + Duration::from_secs(seconds.load(Ordering::Relaxed)))
    }
}

fn pool(rules: &str, keeper: LimitKeeper) -> ToolPool {
    let policies = Policies::new().policy(yaml(rules)).limits(keeper);
    builder().install(policies).build().unwrap()
}

#[tokio::test]
async fn a_sliding_window_counts_each_call_for_its_time() {
    let clock = Clock::new();
    let rules = "rules: [{id: r, then: allow, rate_limit: {max: 2, window: 1m}}]";
    let pool = pool(rules, clock.keeper());
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    clock.advance(30);
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    let third = pool.call(reading("a")).await;
    assert_eq!(class(&third), ErrorClass::RateLimited);
    assert_eq!(
        third.observation().to_text(),
        "`fs.read` was not run: the limit of 2 calls in 60s (rule `r`) is used up; try again in 30.001s"
    );
    let write = ToolCall::json("fs.write", serde_json::json!({ "path": "a" }));
    assert_eq!(fate(&pool, write).await, "ran", "another tool has a share of its own");
    let ada = pool.for_principal(Principal::new("ada"));
    assert_eq!(fate(&ada, reading("a")).await, "ran", "so has another caller");
    clock.advance(30);
    assert_eq!(fate(&pool, reading("a")).await, "ran", "the first call is a minute ago");
    assert_eq!(fate(&pool, reading("a")).await, "limited");
}

#[tokio::test]
async fn calls_that_do_not_run_cost_nothing() {
    let rules = "
rules:
  - {id: no, priority: 1, when: {arguments: {path: {equals: secret}}}, then: deny}
  - {id: r, priority: 2, then: allow, budget: {calls: 1}}";
    let keeper = LimitKeeper::new();
    let pool = pool(rules, keeper.clone());
    for call in
        [reading("secret"), ToolCall::new("fs.read", r#"{"path": 1}"#), ToolCall::new("x", "")]
    {
        assert_ne!(fate(&pool, call).await, "ran");
    }
    assert_eq!(keeper.used("r#0"), 0);
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    assert_eq!(fate(&pool, reading("a")).await, "limited");
    assert_eq!(keeper.used("r#0"), 1);
}

#[tokio::test]
async fn budgets_of_tokens_and_costs_end_with_the_call_that_uses_them_up() {
    let dear = Tool::builder("dear", "Cost money.").handler(|| async {
        Observation::text("word ".repeat(50)).with_meta("tool-runtime/cost", 0.6)
    });
    for budget in ["{cost: 1.0}", "{tokens: 60}"] {
        let rules = format!("rules: [{{id: r, then: allow, budget: {budget}}}]");
        let policies = Policies::new().policy(yaml(&rules));
        let pool = ToolPool::builder().add(dear.clone()).install(policies).build().unwrap();
        let call = || ToolCall::new("dear", "");
        assert_eq!(fate(&pool, call()).await, "ran", "{budget}");
        assert_eq!(fate(&pool, call()).await, "ran", "{budget}");
        assert_eq!(fate(&pool, call()).await, "limited", "{budget}");
    }
}

#[tokio::test]
async fn sessions_and_executions_have_shares_of_their_own() {
    let rules = "rules: [{id: r, then: allow, budget: {calls: 1, per: SHARE}}]";
    let session = pool(&rules.replace("SHARE", "session"), LimitKeeper::new());
    let (one, other) = (session.session(), session.session());
    assert_eq!(fate(one.pool(), reading("a")).await, "ran");
    assert_eq!(fate(one.pool(), reading("a")).await, "limited");
    assert_eq!(fate(other.pool(), reading("a")).await, "ran");
    assert_eq!(fate(&session, reading("a")).await, "ran", "all calls without a session share one");
    assert_eq!(fate(&session, reading("a")).await, "limited");

    let pool = pool(&rules.replace("SHARE", "execution"), LimitKeeper::new());
    for (id, expected) in [("a", false), ("a", true), ("b", false)] {
        let context = pool.context().in_execution(&Arc::new(Execution::new(id)));
        assert_eq!(pool.call_with(reading("a"), &context).await.is_error(), expected, "{id}");
    }
}

#[tokio::test]
async fn counters_of_sessions_end_with_them_and_are_not_stored() {
    let (store, clock) = (Store::default(), Clock::new());
    let rules = "rules: [{id: r, then: allow, budget: {calls: 1, per: session}}]";
    let keeper = clock.keeper().store(store.clone());
    let pool = pool(rules, keeper.clone());
    let session = pool.session();
    assert_eq!(fate(session.pool(), reading("a")).await, "ran");
    let key = format!("r#0/session={:?}", Some(*session.id()));
    assert_eq!(keeper.used(&key), 1);
    assert!(store.0.lock().unwrap().is_empty(), "another process has other sessions");
    session.close().await;
    assert_eq!(keeper.used(&key), 0);
}

#[tokio::test]
async fn many_calls_at_once_never_exceed_a_limit() {
    let keeper = LimitKeeper::new();
    let pool = pool("rules: [{id: r, then: allow, budget: {calls: 25}}]", keeper.clone());
    let results = pool.call_all((0..100).map(|_| reading("a"))).await;
    assert_eq!(results.iter().filter(|result| !result.is_error()).count(), 25);
    assert_eq!(keeper.used("r#0"), 25);
}

/// A store that can be broken.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<HashMap<String, u64>>>, Arc<AtomicBool>);

impl BudgetStore for Store {
    fn used(&self, key: &str) -> Result<u64, RecordError> {
        match self.1.load(Ordering::Relaxed) {
            true => Err(RecordError::new("the disk is gone")),
            false => Ok(self.0.lock().unwrap().get(key).copied().unwrap_or_default()),
        }
    }

    fn set_used(&self, key: &str, amount: u64) -> Result<(), RecordError> {
        self.0.lock().unwrap().insert(key.to_owned(), amount);
        Ok(())
    }
}

#[tokio::test]
async fn budgets_in_a_store_outlive_the_process_and_fail_closed() {
    let (store, rules) = (Store::default(), "rules: [{id: r, then: allow, budget: {calls: 2}}]");
    let first = pool(rules, LimitKeeper::new().store(store.clone()));
    assert_eq!(fate(&first, reading("a")).await, "ran");
    let second = pool(rules, LimitKeeper::new().store(store.clone()));
    assert_eq!(fate(&second, reading("a")).await, "ran");
    assert_eq!(fate(&second, reading("a")).await, "limited");

    store.1.store(true, Ordering::Relaxed);
    let closed = pool(rules, LimitKeeper::new().store(store.clone()));
    assert_eq!(fate(&closed, reading("a")).await, "limited");
    let open = pool(rules, LimitKeeper::new().store(store.clone()).allow_on_store_error());
    assert_eq!(fate(&open, reading("a")).await, "ran");
    // What was used is not forgotten.
    store.1.store(false, Ordering::Relaxed);
    assert_eq!(fate(&open, reading("a")).await, "limited");
}

/// The time of a rule counts from the start of the tool: not while a person is asked.
#[tokio::test(start_paused = true)]
async fn a_rule_limits_the_time_of_the_calls_that_it_lets_run() {
    let tool = |name: &str, seconds| {
        let wait = move || tokio::time::sleep(Duration::from_secs(seconds));
        Tool::builder(name, "Wait.").handler(wait)
    };
    let slow_yes = |_: ApprovalRequest| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Approval::approved()
    };
    let rules = yaml(
        "
rules:
  - {id: asked, when: {tools: ['asked.*']}, then: {decision: ask, time_limit: 5s}}
  - {id: short, when: {tools: ['short.*']}, then: {decision: allow, time_limit: 5s}}
  - {id: long, when: {tools: ['long.*']}, then: {decision: allow, time_limit: 1h}}
",
    );
    let pool = ToolPool::builder().timeout(Duration::from_secs(30)).install(rules);
    let tools = ["asked.a", "short.a", "long.a"].map(|name| tool(name, 4)).into_iter();
    let late = [("asked.b", 6), ("short.b", 6), ("long.b", 31)];
    let tools = tools.chain(late.map(|(name, seconds)| tool(name, seconds)));
    let pool = tools.fold(pool, |pool, tool| pool.add(tool)).approver(slow_yes).build().unwrap();
    for (name, limit) in [("asked", "5s"), ("short", "5s"), ("long", "30s")] {
        let done = pool.call(ToolCall::new(format!("{name}.a"), "")).await;
        assert!(!done.is_error(), "{done:?}");
        let late = pool.call(ToolCall::new(format!("{name}.b"), "")).await;
        assert_eq!(class(&late), ErrorClass::Timeout);
        let text = late.observation().to_text();
        assert!(text.contains(&format!("did not answer within {limit}")), "{text}");
    }
}
