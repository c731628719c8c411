//! Steps: an execution that is repeated does not repeat its calls.

use super::{Paths, builder};
use crate::support::class;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::BoxFuture;
use tool_runtime::govern::{
    Approval, ApprovalRequest, Begin, CallEvent, CallStage, Receipt, RecordError, Recorder,
    StepStore,
};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Execution, RetryMode, StepId};

/// The started and ended steps.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<HashMap<StepId, Option<String>>>>);

impl Recorder for Steps {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let Some(step) = event.call.step() else { return Receipt::recorded() };
        let mut steps = self.0.lock().unwrap();
        match event.stage {
            CallStage::Started { .. } => drop(steps.insert(step.clone(), None)),
            CallStage::Finished { outcome: Ok(observation), duration: Some(_), .. } => {
                steps.insert(step.clone(), Some(observation.to_text()));
            }
            _ => {}
        }
        Receipt::recorded()
    }
}

impl StepStore for Steps {
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        let begin = match (self.0.lock().unwrap().get(step), mode) {
            (None, _) | (Some(None), RetryMode::SafeToRetry) => Begin::Run,
            (Some(None), _) => Begin::Indeterminate,
            (Some(Some(text)), _) => Begin::Replay(Ok(Observation::text(text))),
        };
        Box::pin(std::future::ready(Ok(begin)))
    }
}

fn counting(runs: &Arc<AtomicU32>) -> Tool {
    let runs = Arc::clone(runs);
    Tool::builder("count", "Count the runs.")
        .handler(move || std::future::ready(runs.fetch_add(1, Ordering::Relaxed) + 1))
}

async fn counted(pool: &ToolPool, execution: &Arc<Execution>) -> String {
    let context = pool.context().in_execution(execution);
    pool.call_with(ToolCall::new("count", ""), &context).await.observation().to_text()
}

#[tokio::test]
async fn a_repeated_execution_gets_its_recorded_results() {
    let (runs, steps) = (Arc::default(), Steps::default());
    let pool = ToolPool::builder().add(counting(&runs)).step_store(steps.clone()).recorder(steps);
    let pool = pool.build().unwrap();
    let first = Arc::new(Execution::new("order-17"));
    assert_eq!(counted(&pool, &first).await, "1");
    assert_eq!(counted(&pool, &first).await, "2", "an equal call is another step");
    let second = Arc::new(Execution::new("order-17").with_attempt(2));
    assert_eq!(counted(&pool, &second).await, "1");
    assert_eq!(counted(&pool, &second).await, "2");
    assert_eq!(counted(&pool, &second).await, "3");
    assert_eq!(counted(&pool, &Arc::new(Execution::new("order-18"))).await, "4");
    assert_eq!(pool.call(ToolCall::new("count", "")).await.observation().to_text(), "5");
}

#[tokio::test]
async fn a_replay_needs_neither_approval_nor_budget_and_can_be_denied() {
    let (asked, steps, budget) =
        (Arc::new(AtomicU32::new(0)), Steps::default(), super::Budget::new(1));
    let count = Arc::clone(&asked);
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Approval::approved() }
    };
    let events = super::Events::default();
    let pool = builder().policy(Paths::default()).approver(approver).limiter(budget.clone());
    let pool = pool.step_store(steps.clone()).recorder(steps.clone()).recorder(events.clone());
    let pool = pool.build().unwrap();
    let call = |path: &str| ToolCall::json("write", serde_json::json!({ "path": path }));
    for _ in 0..2 {
        let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
        let result = pool.call_with(call("odd"), &context).await;
        assert_eq!(result.observation().to_text(), "wrote odd");
    }
    assert_eq!((asked.load(Ordering::Relaxed), budget.left()), (1, 0));
    let replay = [r#"proposed {"path":"odd"}"#, "finished wrote odd, replayed"];
    assert_eq!(events.of_tool("write")[5..], replay);
    // A policy that forbids the call by now forbids its replay.
    let strict = builder().policy(Paths::default()).step_store(steps.clone()).build().unwrap();
    let context = strict.context().in_execution(&Arc::new(Execution::new("two")));
    assert_eq!(class(&strict.call_with(call("secret"), &context).await), ErrorClass::Denied);
}

#[tokio::test]
async fn a_step_with_an_unknown_end_runs_again_only_if_repeatable() {
    for (tool, expected) in [("write", Some(ErrorClass::Indeterminate)), ("read", None)] {
        let steps = Steps::default();
        let pool = builder().step_store(steps.clone()).recorder(steps.clone()).build().unwrap();
        let attempt = || pool.context().in_execution(&Arc::new(Execution::new("one")));
        let call = || ToolCall::new(tool, r#"{"path": "a"}"#);
        pool.call_with(call(), &attempt()).await;
        // The program crashed before the end was recorded.
        steps.0.lock().unwrap().values_mut().for_each(|step| *step = None);
        let again = pool.call_with(call(), &attempt()).await;
        assert_eq!(again.error().map(|error| error.class()), expected);
    }
}

#[tokio::test]
async fn a_store_that_cannot_answer_lets_only_repeatable_calls_run() {
    struct Broken;
    impl StepStore for Broken {
        fn begin<'a>(
            &'a self,
            _: &'a StepId,
            _: RetryMode,
        ) -> BoxFuture<'a, Result<Begin, RecordError>> {
            Box::pin(async { Err(RecordError::new("no connection")) })
        }
    }
    let pool = builder().step_store(Broken).build().unwrap();
    for (tool, expected) in [("write", Some(ErrorClass::Transient)), ("read", None)] {
        let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
        let result = pool.call_with(ToolCall::new(tool, r#"{"path": "a"}"#), &context).await;
        assert_eq!(result.error().map(|error| error.class()), expected);
    }
}

/// The number of calls that began. The first of them never ends.
#[derive(Default)]
struct Begun(AtomicU32);

impl Begun {
    async fn end_unless_first(&self) -> u32 {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => std::future::pending().await,
            earlier => earlier + 1,
        }
    }
}

/// Charge a card.
#[tool(at_most_once, register = false)]
async fn charge(begun: &Begun) -> u32 {
    begun.end_unless_first().await
}

/// Remove everything.
#[tool(destructive, safe_to_retry, register = false)]
async fn purge(begun: &Begun) -> u32 {
    begun.end_unless_first().await
}

/// Calls a tool in two attempts, of which the first is killed while the tool runs.
async fn called_again(name: &str) -> ToolResult {
    let (begun, steps) = (Arc::new(Begun::default()), Steps::default());
    let pool = ToolPool::builder().tool::<ChargeAction>().tool::<PurgeAction>();
    let pool = pool.state(Arc::clone(&begun)).step_store(steps.clone()).recorder(steps);
    let pool = pool.build().unwrap();
    let first = pool.context().in_execution(&Arc::new(Execution::new("order-17")));
    let mut call = Box::pin(pool.call_with(ToolCall::new(name, ""), &first));
    while begun.0.load(Ordering::Relaxed) == 0 {
        tokio::select! { biased; _ = &mut call => {}, () = tokio::task::yield_now() => {} }
    }
    drop(call);
    let second = Arc::new(Execution::new("order-17").with_attempt(2));
    pool.call_with(ToolCall::new(name, ""), &pool.context().in_execution(&second)).await
}

#[tokio::test]
async fn the_macro_says_whether_a_lost_call_runs_again() {
    assert_eq!(called_again("purge").await.observation().to_text(), "2");
    assert_eq!(class(&called_again("charge").await), ErrorClass::Indeterminate);
}
