//! Limits: a call counts when its tool starts, and not before.

use super::{Budget, Events, Paths, builder};
use crate::support::{class, in_time};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tool_runtime::CancellationToken;
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallView, Decision, Limit, LimitExceeded, Limiter, PolicyEngine,
    Receipt, RecordError, Recorder, Reservation,
};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::prelude::*;

fn read(path: &str) -> ToolCall {
    ToolCall::json("read", serde_json::json!({ "path": path }))
}

#[tokio::test]
async fn a_budget_of_two_calls_lets_two_calls_run() {
    let budget = Budget::new(2);
    let pool = builder().limiter(budget.clone()).build().unwrap();
    for _ in 0..2 {
        assert!(!pool.call(read("a")).await.is_error());
    }
    let third = pool.call(read("a")).await;
    assert_eq!(class(&third), ErrorClass::RateLimited);
    assert_eq!(third.observation().to_text(), "`read` was not run: the budget is used up");
}

#[tokio::test]
async fn a_rejected_call_costs_nothing() {
    let budget = Budget::new(2);
    let reject = |_: ApprovalRequest| async { Approval::rejected("no") };
    let hook = Hook::before("write", |_: HookCall| async { Before::deny("never") });
    let pool = builder().limiter(budget.clone()).policy(Paths::default());
    let pool = pool.hook(hook).approver(reject).build().unwrap();
    for call in [
        read("secret"),
        read("odd"),
        ToolCall::new("write", r#"{"path": "a"}"#),
        ToolCall::new("read", r#"{"path": 1}"#),
        ToolCall::new("unknown", ""),
    ] {
        assert!(pool.call(call).await.is_error());
    }
    assert_eq!(budget.left(), 2);
}

#[tokio::test]
async fn a_call_that_waits_for_a_resource_and_is_cancelled_is_refunded() {
    let budget = Budget::new(2);
    let tool = Tool::builder("hold", "Hold it.")
        .access(|_| tool_runtime::Access::none().write("one"))
        .handler(std::future::pending::<()>);
    let pool = ToolPool::builder().add(tool).limiter(budget.clone()).build().unwrap();
    let call = || ToolCall::new("hold", "");
    let mut holder = Box::pin(pool.call(call()));
    assert!(futures_util::poll!(&mut holder).is_pending());
    assert_eq!(budget.left(), 1);
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let mut waiting = Box::pin(pool.call_with(call(), &context));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    assert_eq!(budget.left(), 0, "reserved while it waits");
    token.cancel();
    assert_eq!(class(&in_time(waiting).await), ErrorClass::Cancelled);
    assert_eq!(budget.left(), 1);
    let mut dropped = Box::pin(pool.call(call()));
    assert!(futures_util::poll!(&mut dropped).is_pending());
    assert_eq!(budget.left(), 0);
    drop(dropped);
    assert_eq!(budget.left(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_refunded() {
    struct Full;
    impl Recorder for Full {
        fn record(&self, _: tool_runtime::govern::CallEvent<'_>) -> Receipt {
            Receipt::refused(RecordError::new("disk full"))
        }
    }
    let budget = Budget::new(2);
    let pool = builder().limiter(budget.clone()).recorder(Full).build().unwrap();
    let result = pool.call(ToolCall::new("write", r#"{"path": "a"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Transient);
    assert_eq!(budget.left(), 2);
}

#[tokio::test]
async fn a_tool_that_ran_and_failed_has_cost_its_call() {
    let budget = Budget::new(2);
    let pool = builder().limiter(budget.clone()).build().unwrap();
    assert!(pool.call(ToolCall::new("fail", r#"{"panic": true}"#)).await.is_error());
    assert_eq!(budget.left(), 1);
}

#[tokio::test]
async fn the_calls_of_a_batch_share_a_budget() {
    let (budget, events) = (Budget::new(2), Events::default());
    let pool = builder().limiter(budget).recorder(events.clone()).build().unwrap();
    let results = pool.call_all([read("a"), read("b"), read("c")]).await;
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 1);
    let denied = events.all().into_iter().filter(|event| event == "read decided deny").count();
    assert_eq!(denied, 1, "a call beyond its limit is recorded");
}

#[tokio::test]
async fn a_limiter_gets_the_limits_that_policies_set() {
    struct Rates;
    impl PolicyEngine for Rates {
        fn decide(&self, call: &CallView<'_>) -> Decision {
            let key = format!("{}/{}", call.name(), call.principal().id());
            Decision::allow().with_limit(Limit::rate(key, 3, Duration::from_secs(60)))
        }
    }
    #[derive(Clone, Default)]
    struct Keeper(Arc<Mutex<Vec<Limit>>>);
    impl Limiter for Keeper {
        fn reserve(
            &self,
            _: &CallView<'_>,
            limits: &[Limit],
        ) -> Result<Reservation, LimitExceeded> {
            self.0.lock().unwrap().extend_from_slice(limits);
            Err(LimitExceeded::new("too many").with_retry_after(Duration::from_secs(5)))
        }
    }
    let keeper = Keeper::default();
    let pool = builder().policy(Rates).policy(Rates).limiter(keeper.clone()).build().unwrap();
    let result = pool.call(read("a")).await;
    assert_eq!(result.observation().to_text(), "`read` was not run: too many; try again in 5s");
    let limit = Limit::rate("read/", 3, Duration::from_secs(60));
    assert_eq!(*keeper.0.lock().unwrap(), [limit.clone(), limit]);
}

#[test]
fn a_pool_has_one_limiter() {
    let error = builder().limiter(Budget::new(1)).limiter(Budget::new(1)).build().unwrap_err();
    assert!(error.to_string().contains("two values were given to `limiter`"), "{error}");
}
