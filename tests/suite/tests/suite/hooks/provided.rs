//! State that a hook provides for one call.

use super::super::support::class;
use super::text;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::PoolError;
use tool_runtime::prelude::*;

struct User(&'static str);

/// Return the name of the user.
#[tool(register = false)]
async fn who_am_i(user: &User) -> String {
    user.0.to_owned()
}

fn log_in(pattern: &str) -> Hook {
    Hook::before(pattern.to_owned(), |_: HookCall| async { Before::proceed().provide(User("ada")) })
}

#[tokio::test]
async fn a_provided_value_is_injected() {
    let build = |hook: Option<Hook>| {
        let builder = ToolPool::builder().tool::<WhoAmIAction>();
        hook.into_iter().fold(builder, ToolPoolBuilder::hook).build()
    };
    let pool = build(Some(log_in("who_*").provides::<User>())).expect("a pool");
    assert_eq!(text(&pool.call(ToolCall::new("who_am_i", "")).await), "ada");
    assert_eq!(WhoAmIAction {}.call(&pool).await.expect("a typed call"), "ada");
    let error_text = |error: PoolError| error.to_string();
    for without_user in [None, Some(log_in("who_*")), Some(log_in("other").provides::<User>())] {
        let error = error_text(build(without_user).expect_err("nobody provides it"));
        assert!(error.contains("who_am_i") && error.contains("User"), "{error}");
    }
}

#[tokio::test]
async fn a_provided_value_overrides_the_pools_and_a_missing_one_is_an_internal_error() {
    let pool = ToolPool::builder()
        .tool::<WhoAmIAction>()
        .state(User("nobody"))
        .hook(log_in("who_*"))
        .build()
        .expect("a pool");
    assert_eq!(text(&pool.call(ToolCall::new("who_am_i", "")).await), "ada");
    let empty = Hook::before("*", |_: HookCall| async { Before::proceed() }).provides::<User>();
    let pool = ToolPool::builder().tool::<WhoAmIAction>().hook(empty).build().expect("a pool");
    assert_eq!(class(&pool.call(ToolCall::new("who_am_i", "")).await), ErrorClass::Internal);
}

#[tokio::test]
async fn concurrent_calls_do_not_share_provided_values() {
    let count = Arc::new(AtomicUsize::new(0));
    let number = Hook::before("count", move |_: HookCall| {
        let mine = count.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::task::yield_now().await;
            Before::proceed().provide(mine)
        }
    });
    let tell = Tool::builder("count", "Count.").read_only(true).handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            context.get::<usize>().copied().unwrap_or(99).to_string()
        },
    );
    let pool = ToolPool::builder().add(tell).hook(number).build().expect("a pool");
    let results = pool.call_all(vec![ToolCall::new("count", ""); 5]).await;
    let texts: Vec<String> = results.iter().map(text).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "4"]);
    assert!(pool.context().get::<usize>().is_none());
}
