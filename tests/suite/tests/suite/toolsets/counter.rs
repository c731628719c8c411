//! Values of toolsets: created from parameters, shared by the calls of a pool.

use super::super::support::text;
use std::sync::atomic::{AtomicI64, Ordering};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

/// A counter with a configurable step.
struct Counter {
    count: AtomicI64,
    step: i64,
}

#[derive(Clone, Default, serde::Deserialize, schemars::JsonSchema)]
struct CounterParams {
    /// The initial count.
    #[serde(default)]
    start: i64,
    /// Increment per call.
    #[serde(default)]
    step: Option<i64>,
}

#[toolset]
impl Counter {
    /// Add to the counter.
    #[tool(destructive = false)]
    async fn add(
        &self,
        /// The number of times.
        #[arg(range = 1..=100)]
        times: i64,
    ) -> i64 {
        self.count.fetch_add(self.step * times, Ordering::SeqCst) + self.step * times
    }

    /// Return the count, from the blocking pool.
    #[tool(read_only)]
    fn count(&self) -> i64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Return the count.
    #[tool(read_only, inline)]
    fn peek(&self, context: &ToolContext) -> String {
        format!("{}: {}", context.call_id().unwrap_or("-"), self.count.load(Ordering::SeqCst))
    }
}

impl Toolset for Counter {
    type Params = CounterParams;

    async fn create(params: CounterParams, _: &ToolContext) -> Result<Self, ToolError> {
        let count = AtomicI64::new(params.start);
        Ok(Self { count, step: params.step.unwrap_or(1) })
    }
}

async fn counter(start: i64) -> ToolPool {
    let params = CounterParams { start, step: None };
    ToolPool::builder().toolset::<Counter>(params).build().await.expect("a pool")
}

#[tokio::test]
async fn calls_share_the_value_of_their_pool() {
    let (one, other) = (counter(40).await, counter(0).await);
    assert_eq!(text(&one, "counter.add", r#"{"times":2}"#).await, "42");
    assert_eq!(text(&one, "counter.add", r#"{"times":1}"#).await, "43");
    assert_eq!(text(&one, "counter.count", "").await, "43");
    assert_eq!(text(&other, "counter.count", "").await, "0");
}

#[tokio::test]
async fn an_inline_method_receives_the_context() {
    let pool = counter(7).await;
    let result = pool.call(ToolCall::new("counter.peek", "").with_call_id("c1")).await;
    assert_eq!(result.observation().to_text(), "c1: 7");
}

#[tokio::test]
async fn methods_have_typed_actions() {
    let pool = counter(40).await;
    assert_eq!(CounterAddAction { times: 2 }.call(&pool).await.expect("called"), 42);
    assert_eq!(CounterCountAction {}.call(&pool).await.expect("called"), 42);
    let error = CounterAddAction { times: 101 }.call(&pool).await.expect_err("out of range");
    assert_eq!(error.class(), ErrorClass::Input);
    let empty = ToolPool::builder().build().expect("a pool");
    let error = CounterCountAction {}.call(&empty).await.expect_err("not there");
    assert_eq!(error.class(), ErrorClass::NotFound);
}

#[tokio::test]
async fn linked_toolsets_are_created_with_default_parameters() {
    let pool = ToolPool::builder().linked_toolsets().build().await.expect("a pool");
    assert_eq!(text(&pool, "counter.add", r#"{"times":3}"#).await, "3");
    let report = pool.report();
    let counter = report.tools.iter().find(|tool| tool.name == "counter.add").expect("listed");
    assert_eq!(counter.source, Source::Linked);
}

#[tokio::test]
async fn a_linked_toolset_with_parameters_is_created_once_in_any_order() {
    let builder = ToolPool::builder().linked_toolsets();
    let params = CounterParams { start: 40, ..CounterParams::default() };
    let pool = builder.toolset::<Counter>(params).build().await.expect("a pool");
    assert_eq!(text(&pool, "counter.count", "").await, "40");
}

#[tokio::test]
async fn rejects_two_toolsets_of_one_type() {
    let error = ToolPool::builder()
        .toolset::<Counter>(CounterParams::default())
        .toolset::<Counter>(CounterParams::default())
        .build()
        .await
        .expect_err("two counters");
    assert_eq!(error.problems().len(), 3, "{error}");
    assert!(
        error.to_string().contains("two values of one toolset have a tool `counter.add`"),
        "{error}"
    );
}
