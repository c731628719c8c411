//! Typed calls of a governed pool: decided, limited and recorded like calls by name.

use super::{Budget, Events, Paths, ReadAction, builder};
use std::sync::Arc;
use tool_runtime::BoxFuture;
use tool_runtime::govern::{Approval, ApprovalRequest, Begin, RecordError, StepStore};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Execution, RetryMode, StepId};

fn reading(path: &str) -> ReadAction {
    ReadAction { path: path.to_owned() }
}

/// A failure with parts.
#[derive(Debug, PartialEq)]
struct Missing(u8);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "part {} is missing", self.0)
    }
}

/// A structured value.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Parts {
    parts: u8,
}

/// Collect the parts.
#[tool(read_only, register = false)]
async fn collect(
    /// The number of parts.
    parts: u8,
) -> Result<Parts, Missing> {
    if parts > 9 { Err(Missing(parts)) } else { Ok(Parts { parts }) }
}

#[tokio::test]
async fn a_typed_call_is_decided_limited_and_recorded() {
    let (events, budget) = (Events::default(), Budget::new(1));
    let pool =
        builder().policy(Paths::default()).limiter(budget.clone()).recorder(events.clone()).build();
    let pool = pool.unwrap();
    assert_eq!(reading("a").call(&pool).await.unwrap(), "read a");
    let denied = reading("secret").call(&pool).await.unwrap_err();
    assert_eq!(denied.class(), ErrorClass::Denied);
    assert!(denied.message().contains("`path` is secret; read another file"), "{denied}");
    let limited = reading("b").call(&pool).await.unwrap_err();
    assert_eq!(limited.class(), ErrorClass::RateLimited);
    assert_eq!(budget.left(), 0);
    let expected = [
        r#"proposed {"path":"a"}"#,
        "decided allow",
        r#"started {"path":"a"}"#,
        "finished read a, ran",
        r#"proposed {"path":"secret"}"#,
        "decided deny rule s",
        "finished denied",
        r#"proposed {"path":"b"}"#,
        "decided deny",
        "finished rate_limited",
    ];
    assert_eq!(events.of_tool("read"), expected);
}

#[tokio::test]
async fn an_approver_and_hooks_edit_the_arguments_of_a_typed_call() {
    let approver = |request: ApprovalRequest| {
        assert_eq!(request.arguments(), r#"{"path":"odd"}"#);
        async { Approval::approved().with_arguments(r#"{"path":"even"}"#) }
    };
    let rewrite = Hook::before("*", |call: HookCall| async move {
        match call.arguments().contains("first") {
            true => Before::rewrite(r#"{"path":"odd"}"#),
            false => Before::proceed(),
        }
    });
    let pool = builder().policy(Paths::default()).approver(approver).hook(rewrite).build().unwrap();
    assert_eq!(reading("first").call(&pool).await.unwrap(), "read even");
}

#[tokio::test]
async fn a_typed_call_returns_the_value_of_the_function() {
    let events = Events::default();
    let pool = ToolPool::builder().tool::<CollectAction>().recorder(events.clone()).build();
    let pool = pool.unwrap();
    let collect = |parts| CollectAction { parts }.call(&pool);
    assert_eq!(collect(3).await.unwrap(), Parts { parts: 3 });
    let missing = collect(12).await.unwrap_err();
    assert_eq!((missing.class(), missing.message()), (ErrorClass::Tool, "part 12 is missing"));
    let events = events.of_tool("collect");
    assert_eq!(events[3], r#"finished {"parts":3}, ran"#);
    assert_eq!(events[7], "finished tool, ran", "an error of the tool is recorded as one");
}

#[tokio::test]
async fn a_nested_typed_call_is_governed() {
    /// Read a secret.
    #[tool(register = false)]
    async fn read_secret(context: &ToolContext) -> Result<String, ToolError> {
        let pool = context.pool().ok_or("a pool")?;
        Ok(reading("secret").call_with(&pool, context).await?)
    }
    let pool = builder().tool::<ReadSecretAction>().policy(Paths::default()).build().unwrap();
    let error = ReadSecretAction {}.call(&pool).await.unwrap_err();
    assert!(error.message().contains("`path` is secret"), "{error}");
}

/// A step store in which every step has run.
struct Ran;

impl StepStore for Ran {
    fn begin<'a>(
        &'a self,
        _: &'a StepId,
        _: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        Box::pin(async { Ok(Begin::Replay(Ok(Observation::text("read before")))) })
    }
}

#[tokio::test]
async fn a_typed_call_is_shown_to_after_hooks_and_replayed() {
    let seen = Hook::after("*", |_: HookCall, after: AfterCall| async move {
        After::replace(Observation::text(format!("{}, seen", after.observation().to_text())))
    });
    let hooked = builder().policy(Paths::default()).hook(seen).build().unwrap();
    assert_eq!(reading("a").call(&hooked).await.unwrap(), "read a, seen");

    let steps = builder().step_store(Ran).build().unwrap();
    let context = steps.context().in_execution(&Arc::new(Execution::new("order-17")));
    assert_eq!(reading("a").call_with(&steps, &context).await.unwrap(), "read before");
    assert_eq!(reading("a").call(&steps).await.unwrap(), "read a");
}
