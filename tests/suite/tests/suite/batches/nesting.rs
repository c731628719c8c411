//! Nested calls.

use super::jobs::{Job, Log, Nested, is_before, overlap, pool};
use crate::support::{class, in_time};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tool_runtime::CancellationToken;
use tool_runtime::govern::OutputLimits;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::prelude::*;

fn outcome(pool: &ToolPool, id: usize) -> Option<ErrorClass> {
    let context = pool.context();
    let log = context.get::<Log>().expect("a log");
    assert_eq!(log.violations(), [] as [&str; 0]);
    log.outcome(id).unwrap_or_else(|| panic!("{id} has no result"))
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_may_use_the_resources_of_its_caller() {
    let pool = pool();
    let leaf = Job::new(2, 1).writing("k:a").reading("k:b").keyed_job();
    let inner =
        Job::new(1, 1).writing("k:a").calling([leaf, Job::new(3, 1).undeclared_job()]).keyed_job();
    let outer = Job::new(0, 1).writing("k:a").writing("k:b").calling([inner]).keyed_job();
    let result = in_time(pool.call(outer.call())).await;
    assert!(!result.is_error(), "{result:?}");
    for id in 1..=3 {
        assert_eq!(outcome(&pool, id), None, "{id}");
    }
    assert!(is_before(&pool, 2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_waits_for_unrelated_calls() {
    let pool = pool();
    let child = Job::new(1, 1).writing("k:a").keyed_job();
    let parent = Job::new(0, 1).calling([child]).undeclared_job();
    let unrelated = Job::new(2, 50).writing("k:a").keyed_job();
    in_time(async { tokio::join!(pool.call(unrelated.call()), pool.call(parent.call())) }).await;
    assert!(is_before(&pool, 2, 1) && overlap(&pool, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_deadlock_of_two_calls_ends_one_of_them() {
    let pool = pool();
    let crossing = |id: usize, own: &str, other: &str| {
        let child = Job::new(10 + id, 1).writing(other).keyed_job();
        Job::new(id, 10).writing(own).calling([child]).keyed_job()
    };
    let jobs = [crossing(0, "k:a", "k:b"), crossing(1, "k:b", "k:a")];
    let results = in_time(pool.call_all(jobs.iter().map(Nested::call))).await;
    assert!(results.iter().all(|result| !result.is_error()));
    let (one, two) = (outcome(&pool, 10), outcome(&pool, 11));
    assert!(one.is_none() != two.is_none(), "{one:?} and {two:?}");
    let rejected = one.or(two).expect("an error");
    assert!(rejected.is_retryable() && rejected == ErrorClass::Transient);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_of_many_calls_is_broken() {
    let pool = pool();
    let jobs: Vec<Nested> = (0..8)
        .map(|id| {
            let child = Job::new(10 + id, 1).writing(&format!("k:{}", (id + 1) % 8)).keyed_job();
            Job::new(id, 10).writing(&format!("k:{id}")).calling([child]).keyed_job()
        })
        .collect();
    let results = in_time(pool.call_all(jobs.iter().map(Nested::call))).await;
    assert!(results.iter().all(|result| !result.is_error()));
    let rejected = (10..18).filter(|id| outcome(&pool, *id).is_some()).count();
    assert_eq!(rejected, 1);
}

#[tokio::test(start_paused = true)]
async fn nested_batches_have_their_own_limits() {
    let pool = super::jobs::builder().batch_limit(1).build().expect("a pool");
    let deep = (1..10).rev().fold(Job::new(10, 1).read_only_job(), |inner, id| {
        Job::new(id, 1).calling([inner, Job::new(100 + id, 1).read_only_job()]).read_only_job()
    });
    let results =
        in_time(pool.call_all([deep.call(), Job::new(0, 1).read_only_job().call()])).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    for id in 2..=10 {
        assert_eq!(outcome(&pool, id), None);
    }
}

#[derive(Default)]
struct Depth(AtomicUsize, AtomicUsize);

/// Call itself until the nesting limit.
#[tool(register = false)]
async fn recurse(depth: &Depth, context: &ToolContext) -> Result<(), ToolError> {
    depth.0.fetch_add(1, Ordering::SeqCst);
    let result = context.call(ToolCall::new("recurse", "")).await;
    if let Some(error) = result.error() {
        assert_eq!(error.class(), ErrorClass::Denied);
        assert!(error.message().contains("deeper than 16"), "{error}");
        depth.1.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

#[tokio::test]
async fn nesting_has_a_maximum_depth() {
    let plain = ToolPool::builder().tool::<RecurseAction>().state(Depth::default());
    let proceed = |_: HookCall| async { Before::proceed() };
    let limited = ToolPool::builder()
        .tool::<RecurseAction>()
        .state(Depth::default())
        .hook(Hook::before("*", proceed))
        .hook(Hook::after("*", |_, _| async { tool_runtime::hook::After::keep() }))
        .output_limits(OutputLimits::default())
        .check_outputs()
        .timeout(Duration::from_secs(60))
        .layer(tower::limit::ConcurrencyLimitLayer::new(100));
    for builder in [plain, limited] {
        let pool = builder.build().expect("a pool");
        assert!(!pool.call(ToolCall::new("recurse", "")).await.is_error());
        let context = pool.context();
        let depth = context.get::<Depth>().expect("state");
        assert_eq!((depth.0.load(Ordering::SeqCst), depth.1.load(Ordering::SeqCst)), (17, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_call_cancels_its_nested_calls() {
    let pool = pool();
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let leaf = Job::new(2, 1_000).writing("k:a").keyed_job();
    let call = Job::new(0, 1)
        .calling([Job::new(1, 1).calling([leaf]).read_only_job()])
        .read_only_job()
        .call();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        token.cancel();
    };
    let (result, ()) =
        in_time(async { tokio::join!(pool.call_with(call, &context), cancel) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    assert!(context.get::<Log>().expect("a log").span(2).is_some());
    let next = in_time(pool.call(Job::new(3, 1).writing("k:a").keyed_job().call())).await;
    assert!(!next.is_error(), "the key was not freed");
}

/// Report whether the deadline is within a minute.
#[tool(register = false)]
async fn deadline_is_near(context: &ToolContext) -> bool {
    let time_left = |at: Instant| at.saturating_duration_since(Instant::now());
    context.deadline().map(time_left).is_some_and(|time_left| time_left < Duration::from_secs(60))
}

#[tokio::test]
async fn a_nested_call_has_the_deadline_state_and_restrictions_of_its_caller() {
    let relay = Tool::builder("relay", "Pass it on.").timeout(Duration::from_secs(50)).handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let calls = ["deadline_is_near", "hidden"].map(|name| ToolCall::new(name, ""));
            let results = context.call_all(calls).await;
            assert_eq!(class(&results[1]), ErrorClass::Denied);
            results[0].observation().to_text()
        },
    );
    let hidden = Tool::builder("hidden", "Do not.").handler(|| async {});
    let pool = ToolPool::builder()
        .add(relay)
        .add(hidden)
        .tool::<DeadlineIsNearAction>()
        .build()
        .expect("a pool");
    let scope = pool.scope();
    let _only = scope.restrict(["relay", "deadline_*"]).expect("patterns");
    let result = scope.call(ToolCall::new("relay", "")).await;
    assert_eq!(result.observation().to_text(), "true");
    assert!(!pool.call(ToolCall::new("hidden", "")).await.is_error());
}

/// Return the id of this call.
#[tool(register = false)]
async fn ask_id(context: &ToolContext) -> String {
    context.call_id().unwrap_or("none").to_owned()
}

/// Return the ids of two nested calls.
#[tool(register = false)]
async fn ask_ids(context: &ToolContext) -> String {
    let calls = [ToolCall::new("ask_id", "").with_call_id("own"), ToolCall::new("ask_id", "")];
    let results = context.call_all(calls).await;
    results.iter().map(|result| result.observation().to_text()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn every_call_has_its_own_id() {
    let pool =
        ToolPool::builder().tool::<AskIdAction>().tool::<AskIdsAction>().build().expect("a pool");
    let ask = || ToolCall::new("ask_id", "");
    let text = |result: ToolResult| result.observation().to_text();
    assert_eq!(text(pool.call(ask()).await), "none");
    assert_eq!(text(pool.call(ask().with_call_id("1")).await), "1");
    assert_eq!(text(pool.call_with(ask().with_call_id("2"), &pool.context()).await), "2");
    let context = pool.context().with_call_id("3");
    assert_eq!(text(pool.call_with(ask(), &context).await), "3");
    let ids: Vec<String> =
        pool.call_all([ask().with_call_id("4"), ask()]).await.into_iter().map(text).collect();
    assert_eq!(ids, ["4", "none"]);
    assert_eq!(text(pool.call(ToolCall::new("ask_ids", "").with_call_id("5")).await), "own none");
}

#[tokio::test]
async fn a_context_without_a_pool_cannot_call() {
    let context = ToolContext::default();
    let results =
        context.call_all([ToolCall::new("a", "").with_call_id("1"), ToolCall::new("b", "")]).await;
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].call_id(), "1");
    assert!(results.iter().all(|result| class(result) == ErrorClass::Denied));
    let context = pool().context();
    assert_eq!(
        class(&context.call(ToolCall::new("read_only_job", "{}")).await),
        ErrorClass::Denied
    );
}

/// Call a tool of another pool, which calls `write_key` of this pool.
#[tool(register = false, writes("k:a"))]
async fn call_other_pool(context: &ToolContext, other: &Other) -> String {
    let result = other.0.call_with(ToolCall::new("call_back", ""), context).await;
    result.observation().to_text()
}

struct Other(ToolPool);

/// Write the key that `call_other_pool` holds.
#[tool(register = false, writes("k:a"))]
async fn write_key() -> &'static str {
    "write_key"
}

#[tokio::test(start_paused = true)]
async fn calls_through_two_pools_do_not_deadlock() {
    let first_pool: Arc<OnceLock<ToolPool>> = Arc::default();
    let outer_pool = Arc::clone(&first_pool);
    let back = Tool::builder("call_back", "Go back.").handler(
        move |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| {
            let first_pool = Arc::clone(&outer_pool);
            async move {
                let first_pool = first_pool.get().expect("the first pool");
                first_pool
                    .call_with(ToolCall::new("write_key", ""), &context)
                    .await
                    .observation()
                    .to_text()
            }
        },
    );
    let other = ToolPool::builder().add(back).build().expect("a pool");
    let pool = ToolPool::builder()
        .tool::<CallOtherPoolAction>()
        .tool::<WriteKeyAction>()
        .state(Other(other))
        .build()
        .expect("a pool");
    first_pool.set(pool.clone()).expect("it is set once");
    let result = in_time(pool.call(ToolCall::new("call_other_pool", ""))).await;
    assert_eq!(result.observation().to_text(), "write_key");
}

#[tokio::test]
async fn nested_calls_are_restricted_by_the_handle_of_the_call() {
    let secret = Tool::builder("secret", "Tell.").handler(|| async { "told" });
    let asks = Tool::builder("asks", "Ask the other.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            context.call(ToolCall::new("secret", "")).await.into_observation()
        },
    );
    let pool = ToolPool::builder().add(secret).add(asks).build().expect("a pool");
    let agent = pool.scope();
    let _skill = agent.restrict(["asks"]).expect("a pattern");
    for context in [pool.context(), agent.context(), ToolContext::default()] {
        let result = agent.call_with(ToolCall::new("asks", ""), &context).await;
        assert!(result.observation().to_text().starts_with("`secret` is not available"));
    }
    let free = pool.call(ToolCall::new("asks", "")).await;
    assert_eq!(free.observation().to_text(), "told");
}
