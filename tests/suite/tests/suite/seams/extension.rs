//! Extensions install several parts at once.

use super::{Budget, Events, Paths, builder};
use crate::support::class;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::pool::PoolExtension;
use tool_runtime::prelude::*;

/// A policy with its budget and its record.
struct Governance {
    budget: Budget,
    events: Events,
}

impl PoolExtension for Governance {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
        builder.policy(Paths::default()).limiter(self.budget).recorder(self.events).add(ping)
    }
}

#[tokio::test]
async fn an_extension_installs_a_policy_a_limit_a_record_and_a_tool() {
    let (budget, events) = (Budget::new(1), Events::default());
    let extension = Governance { budget: budget.clone(), events: events.clone() };
    let pool = builder().install(extension).build().unwrap();
    let call = |path: &str| ToolCall::json("read", serde_json::json!({ "path": path }));
    assert_eq!(class(&pool.call(call("secret")).await), ErrorClass::Denied);
    assert_eq!(pool.call(ToolCall::new("ping", "")).await.observation().to_text(), "pong");
    assert_eq!(class(&pool.call(call("a")).await), ErrorClass::RateLimited);
    assert_eq!((budget.left(), events.all().len()), (0, 10));
}

#[test]
fn the_problems_of_extensions_are_reported_with_all_others() {
    struct Broken;
    impl PoolExtension for Broken {
        fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
            builder.problem("rules", "line 3: unknown key `alow`; did you mean `allow`?")
        }
    }
    let error = builder().install(Broken).deny(["[x"]).build().unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    let text = "extension `rules`: line 3: unknown key `alow`; did you mean `allow`?";
    assert!(error.to_string().contains(text), "{error}");
}
