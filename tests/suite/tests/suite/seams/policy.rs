//! Policies: the strictest decision on the final arguments counts.

use super::{Paths, builder};
use crate::support::{class, in_time};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tool_runtime::Principal;
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallView, Decision, Limit, PolicyEngine, Risk,
};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

/// One decision for every call.
struct Always(fn() -> Decision);

impl PolicyEngine for Always {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        (self.0)()
    }
}

fn rewriting(to: &'static str) -> Hook {
    Hook::before("*", move |_: HookCall| async move { Before::rewrite(to) })
}

#[tokio::test]
async fn a_call_is_denied_by_its_arguments_with_a_reason_for_the_model() {
    let pool = builder().policy(Paths::default()).build().unwrap();
    let denied = pool.call(ToolCall::new("read", r#"{"path": "s\u0065cret"}"#)).await;
    assert_eq!(class(&denied), ErrorClass::Denied);
    assert_eq!(
        denied.observation().to_text(),
        "the call to `read` is not allowed: `path` is secret; read another file"
    );
    let allowed = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(allowed.observation().to_text(), "read a");
}

#[tokio::test]
async fn the_strictest_of_several_policies_counts_in_any_order() {
    let call = || ToolCall::new("read", r#"{"path": "a"}"#);
    let allow: fn() -> Decision = Decision::allow;
    let ask: fn() -> Decision = || Decision::ask("Sure?");
    let deny: fn() -> Decision = || Decision::deny("no");
    for (policies, expected) in [
        ([ask, deny, allow], Some(ErrorClass::Denied)),
        ([deny, allow, ask], Some(ErrorClass::Denied)),
        ([allow, ask, allow], Some(ErrorClass::ApprovalRejected)),
        ([allow, allow, allow], None),
    ] {
        let reject = |_: ApprovalRequest| async { Approval::rejected("not now") };
        let pool = policies.into_iter().fold(builder(), |pool, policy| pool.policy(Always(policy)));
        let result = pool.approver(reject).build().unwrap().call(call()).await;
        assert_eq!(result.error().map(|error| error.class()), expected);
    }
}

#[tokio::test]
async fn every_question_of_policies_and_hooks_is_asked_about_the_final_arguments() {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&questions);
    let approver = move |request: ApprovalRequest| {
        log.lock().unwrap().push(format!("{} {}", request.question(), request.arguments()));
        async { Approval::approved() }
    };
    let hook = Hook::before("*", |_: HookCall| async {
        Before::ask("Now?").rewriting(r#"{"path":"odd"}"#)
    });
    let pool = builder().policy(Paths::default()).hook(hook).approver(approver).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(result.observation().to_text(), "read odd");
    let expected = [r#"Now? {"path":"odd"}"#, r#"Is that right? {"path":"odd"}"#];
    assert_eq!(*questions.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_question_without_an_approver_denies() {
    let pool = builder().policy(Paths::default()).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "odd"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Denied);
}

#[tokio::test]
async fn rewritten_arguments_are_decided_again() {
    let policy = Paths::default();
    let decisions = Arc::clone(&policy.decisions);
    let pool = builder().policy(policy).hook(rewriting(r#"{"path": "secret"}"#)).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    assert_eq!(decisions.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_hook_does_not_loosen_a_denial() {
    let runs = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&runs);
    let hook = Hook::before("*", move |_: HookCall| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Before::rewrite(r#"{"path": "a"}"#) }
    });
    let pool = builder().policy(Paths::default()).hook(hook).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "secret"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    assert_eq!(runs.load(Ordering::Relaxed), 0, "a denied call reaches no hook");
}

#[tokio::test]
async fn edited_arguments_are_checked_and_decided_without_a_second_question() {
    for (edited, expected) in [
        (r#"{"path": "b"}"#, Ok("read b")),
        (r#"{"path": "odd"}"#, Ok("read odd")),
        (r#"{"path": "secret"}"#, Err(ErrorClass::Denied)),
        (r#"{"path": 7}"#, Err(ErrorClass::ApprovalRejected)),
    ] {
        let questions = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&questions);
        let approver = move |_: ApprovalRequest| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { Approval::approved().with_arguments(edited) }
        };
        let pool = builder().policy(Paths::default()).approver(approver).build().unwrap();
        let result = pool.call(ToolCall::new("read", r#"{"path": "odd"}"#)).await;
        match expected {
            Ok(text) => assert_eq!(result.observation().to_text(), text),
            Err(expected) => assert_eq!(class(&result), expected, "{edited}"),
        }
        assert_eq!(questions.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn an_approver_edits_the_arguments_of_a_call_that_a_hook_asks_about() {
    let hook = Hook::before("*", |_: HookCall| async { Before::ask("Sure?") });
    let approver =
        |_: ApprovalRequest| async { Approval::approved().with_arguments(r#"{"path": "b"}"#) };
    let pool = builder().hook(hook).approver(approver).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(result.observation().to_text(), "read b");
}

#[tokio::test]
async fn a_policy_that_panics_denies_and_hides() {
    struct Broken;
    impl PolicyEngine for Broken {
        fn decide(&self, _: &CallView<'_>) -> Decision {
            panic!("broken")
        }
        fn visible(&self, tool: &ToolDefinition, _: &Principal) -> bool {
            assert_ne!(tool.name, "write");
            true
        }
    }
    let pool = builder().policy(Broken).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Internal);
    assert!(!result.observation().to_text().contains("broken"));
    assert!(pool.get("read").is_some() && pool.get("write").is_none());
}

#[tokio::test]
async fn a_limit_without_a_limiter_denies() {
    let limited = || Decision::allow().with_limit(Limit::budget("all", 5));
    let pool = builder().policy(Always(limited)).build().unwrap();
    let result = pool.call(ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert_eq!(class(&result), ErrorClass::Internal);
    assert!(result.error().unwrap().detail().unwrap().contains("has no limiter"));
}

#[tokio::test]
async fn a_hidden_tool_is_neither_listed_nor_called_and_no_child_sees_more() {
    let policy = Paths { hides_writing: true, ..Paths::default() };
    let pool = builder().policy(policy).build().unwrap();
    let admin = pool.for_principal(Principal::new("ada").with_scopes(["admin"]));
    let call = || ToolCall::new("write", r#"{"path": "a"}"#);
    let session = pool.session();
    for handle in [&pool, &pool.scope(), session.pool(), &pool.for_principal(Principal::new("b"))] {
        assert!(handle.get("write").is_none() && handle.tools().len() == 2);
        assert!(!handle.definitions_json().contains("write"));
        let denied = handle.call(call()).await;
        assert_eq!(class(&denied), ErrorClass::Denied);
        assert_eq!(denied.observation().to_text(), "`write` is not available to this caller");
    }
    assert_eq!(admin.tools().len(), 3);
    assert_eq!(admin.call(call()).await.observation().to_text(), "wrote a");
    // A restriction bounds an administrator, too.
    let _restriction = pool.restrict(["read"]).unwrap();
    assert_eq!(admin.tools().len(), 1);
    assert_eq!(class(&admin.call(call()).await), ErrorClass::Denied);
}

#[tokio::test]
async fn a_list_is_the_same_value_until_its_visibility_changes() {
    let policy = Paths { hides_writing: true, ..Paths::default() };
    let pool = builder().policy(policy).build().unwrap();
    assert!(Arc::ptr_eq(&pool.snapshot(), &pool.snapshot()));
    let before = pool.snapshot();
    let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    pool.add_tools(&Source::owner("more"), [ping]).unwrap();
    assert_eq!((before.tools().len(), pool.snapshot().tools().len()), (2, 3));
}

#[tokio::test]
async fn a_nested_call_is_decided_for_the_same_principal() {
    let outer = Tool::builder("outer", "Write a file.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let seen = context.pool().map_or(0, |pool| pool.tools().len());
            let result = context.call(ToolCall::new("write", r#"{"path": "a"}"#)).await;
            format!("{seen} {}", result.observation().to_text())
        },
    );
    let policy = Paths { hides_writing: true, ..Paths::default() };
    let pool = builder().add(outer).policy(policy).build().unwrap();
    let admin = pool.context().with_principal(Principal::new("ada").with_scopes(["admin"]));
    let call = || ToolCall::new("outer", "");
    assert_eq!(in_time(pool.call_with(call(), &admin)).await.observation().to_text(), "4 wrote a");
    let denied = in_time(pool.call(call())).await;
    assert_eq!(denied.observation().to_text(), "3 `write` is not available to this caller");
}

#[tokio::test]
async fn each_call_of_a_batch_is_decided() {
    let pool = builder().policy(Paths::default()).build().unwrap();
    let calls = ["a", "secret", "b"]
        .map(|path| ToolCall::json("read", serde_json::json!({ "path": path })));
    let results = pool.call_all(calls).await;
    let errors: Vec<bool> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false]);
}

#[tokio::test]
async fn a_view_shows_the_call() {
    struct Look(Arc<Mutex<Vec<String>>>);
    impl PolicyEngine for Look {
        fn decide(&self, call: &CallView<'_>) -> Decision {
            self.0.lock().unwrap().push(format!(
                "{} {} trusted={} read_only={} {} {:?} id={:?} principal={} session={} parent={} step={} attempt={} repairs={}",
                call.name(),
                call.source().unwrap(),
                call.is_trusted(),
                call.annotations().is_read_only(),
                call.arguments_value(),
                call.risk(),
                call.call_id(),
                call.principal().id(),
                call.session().is_some(),
                call.parent().is_some(),
                call.step().is_some(),
                call.attempt(),
                call.repairs().len(),
            ));
            assert_eq!((call.risk(), call.summary()), (Risk::Unknown, None));
            Decision::allow()
        }
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let pool = builder().repair().policy(Look(Arc::clone(&seen))).build().unwrap();
    let session = pool.session();
    let context = session.pool().context().with_principal(Principal::new("ada"));
    let call = ToolCall::new("read", r#"{"Path": "a"}"#).with_call_id("c1");
    session.pool().call_with(call, &context).await;
    assert_eq!(
        seen.lock().unwrap()[0],
        r#"read custom trusted=true read_only=true {"path":"a"} Unknown id=Some("c1") principal=ada session=true parent=false step=false attempt=1 repairs=1"#
    );
}
