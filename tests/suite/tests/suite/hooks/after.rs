//! After-hooks see every outcome and may replace it.

use super::super::support::{class, in_time};
use super::{Seen, builder, panicking, pool, text, to_ada};
use serde_json::json;
use std::time::Duration;
use tool_runtime::CancellationToken;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;

fn outcome_of(after: &AfterCall) -> String {
    match after.error_class() {
        Some(class) => format!("{class}: {}", after.observation().to_text()),
        None => after.observation().to_text(),
    }
}

fn observe_with(seen: &Seen) -> Hook {
    let seen = seen.clone();
    Hook::after("*", move |call: HookCall, after: AfterCall| {
        seen.note(format!("{} -> {}", call.name(), outcome_of(&after)));
        async { After::keep() }
    })
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_every_outcome() {
    let watched = Seen::default();
    let slow = Tool::builder("slow", "Never end.")
        .timeout(Duration::from_secs(2))
        .handler(std::future::pending::<()>);
    let (builder, _) = builder();
    let pool = builder.add(slow).hook(observe_with(&watched)).build().expect("a pool");
    let calls = ["mail.list", "fail", "explode", "slow"].map(|name| ToolCall::new(name, ""));
    let results = in_time(pool.call_all(calls)).await;
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 3);
    let token = CancellationToken::new();
    token.cancel();
    let context = pool.context().with_cancellation(token);
    let result = pool.call_with(ToolCall::new("mail.list", ""), &context).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let seen = watched.all();
    assert_eq!(seen[..2], ["mail.list -> two mails", "fail -> transient: busy"]);
    assert!(seen[2].starts_with("explode -> internal: "), "{seen:?}");
    assert!(seen[3].starts_with("slow -> timeout: "), "{seen:?}");
}

#[tokio::test]
async fn an_after_hook_replaces_results_and_errors() {
    let redact = |_: HookCall, after: AfterCall| async move {
        match after.is_error() {
            true => After::replace(Observation::text("try later")),
            false => After::replace(Observation::error("(redacted)")),
        }
    };
    let (pool, _) = pool([Hook::after("*", redact)]);
    let result = pool.call(ToolCall::new("mail.list", "")).await;
    assert!(result.is_error() && result.error().is_none());
    assert_eq!(result.observation().to_text(), "(redacted)");
    assert_eq!(text(&pool.call(ToolCall::new("fail", "")).await), "try later");
}

#[tokio::test(start_paused = true)]
async fn a_failing_after_hook_withholds_the_result_unless_it_fails_open() {
    let hooks = || {
        let fail = |_: HookCall, _: AfterCall| async { Err::<After, _>("disk full") };
        let explode = |_: HookCall, _: AfterCall| async { panicking::<After>("boom") };
        let hang = |_: HookCall, _: AfterCall| std::future::pending::<After>();
        [Hook::after("*", fail), Hook::after("*", explode), Hook::after("*", hang)]
    };
    for hook in hooks() {
        let (pool, seen) = pool([hook]);
        let result = in_time(pool.call(ToolCall::new("mail.list", ""))).await;
        assert_eq!(class(&result), ErrorClass::Internal);
        let text = result.observation().to_text();
        assert!(text.contains("ran, but its result was withheld") && !text.contains("two mails"));
        assert_eq!(seen.all(), ["listed"]);
    }
    for hook in hooks() {
        let (pool, _) = pool([hook.fails_open()]);
        assert_eq!(text(&in_time(pool.call(ToolCall::new("mail.list", ""))).await), "two mails");
    }
}

#[tokio::test]
async fn hooks_run_in_order_and_see_earlier_changes() {
    let order = Seen::default();
    let extend = |number: usize| {
        let order = order.clone();
        Hook::before("mail.send", move |call: HookCall| {
            let plus_count = call.arguments().matches('+').count();
            order.note(format!("before {number} sees {plus_count}"));
            let plus = "+".repeat(plus_count + 1);
            async move { Before::rewrite(json!({"to": format!("ada{plus}")}).to_string()) }
        })
    };
    let append = |number: usize| {
        let order = order.clone();
        Hook::after("mail.send", move |_: HookCall, after: AfterCall| {
            let text = after.observation().to_text();
            order.note(format!("after {number} sees {text}"));
            async move { After::replace(Observation::text(format!("{text}!"))) }
        })
    };
    let (pool, _) = pool([extend(1), append(1), extend(2), append(2)]);
    assert_eq!(text(&pool.call(to_ada()).await), "hello to ada++!!");
    let expected = [
        "before 1 sees 0",
        "before 2 sees 1",
        "after 1 sees hello to ada++",
        "after 2 sees hello to ada++!",
    ];
    assert_eq!(order.all(), expected);
}

#[tokio::test]
async fn a_denial_skips_later_before_hooks() {
    let order = Seen::default();
    let deny = Hook::before("*", |_: HookCall| async { Before::deny("no") });
    let note = {
        let order = order.clone();
        Hook::before("*", move |call: HookCall| {
            order.note(call.name());
            async { Before::proceed() }
        })
    };
    let (pool, _) = pool([deny, note, observe_with(&order)]);
    assert_eq!(class(&pool.call(to_ada()).await), ErrorClass::Denied);
    assert_eq!(order.all(), ["mail.send -> denied: the call to `mail.send` is not allowed: no"]);
}

/// Records name, arguments, id and class of each call that an after-hook receives, and checks that
/// a rejected call took no time.
fn audit_with(seen: &Seen) -> Hook {
    let seen = seen.clone();
    Hook::after("*", move |call: HookCall, after: AfterCall| {
        let class = after.error_class().map_or("ok", ErrorClass::as_str);
        let id = call.call_id().unwrap_or("-").to_owned();
        seen.note(format!("{id} {} {} {class}", call.name(), call.arguments()));
        async { After::keep() }
    })
}

#[tokio::test]
async fn after_hooks_see_each_rejected_call_once() {
    let audit = Seen::default();
    let deny = Hook::before("mail.list", |_: HookCall| async { Before::deny("no") });
    let broken = Hook::before("explode", |_: HookCall| async { Err::<Before, _>("disk full") });
    let ask = Hook::before("fail", |_: HookCall| async { Before::ask("Fail?") });
    let approver = |_: ApprovalRequest| std::future::ready(Approval::rejected("not today"));
    let (builder, seen) = builder();
    let builder =
        [deny, broken, ask, audit_with(&audit)].into_iter().fold(builder, |b, h| b.hook(h));
    let pool = builder.approver(approver).build().expect("a pool");
    let invalid = ToolCall::new("mail.send", r#"{"to":7}"#).with_call_id("a");
    let denied = ToolCall::new("mail.list", "").with_call_id("b");
    let unchecked = ToolCall::new("explode", "").with_call_id("c");
    let rejected = ToolCall::new("fail", "").with_call_id("d");
    for call in [invalid, denied, unchecked, rejected, ToolCall::new("mail.sent", "{}")] {
        assert!(pool.call(call).await.is_error());
    }
    let restriction = pool.restrict(["fail"]).expect("a pattern");
    let hidden = pool.call_json("mail.list", "").await;
    assert!(hidden.contains("is not available now"), "{hidden}");
    drop(restriction);
    let expected = [
        r#"a mail.send {"to":7} input"#,
        "b mail.list {} denied",
        "c explode {} internal",
        "d fail {} approval_rejected",
        "- mail.list {} denied",
    ];
    assert_eq!(audit.all(), expected);
    assert!(seen.all().is_empty(), "no tool ran");
}

#[tokio::test]
async fn after_hooks_see_the_changes_of_before_hooks_to_a_denied_call() {
    let rewrite = |_: HookCall| async { Before::rewrite(r#"{"to":"bob"}"#).provide(7_u8) };
    let deny = |_: HookCall| async { Before::deny("no") };
    let audit = Seen::default();
    let note = {
        let audit = audit.clone();
        Hook::after("*", move |call: HookCall, after: AfterCall| {
            let provided = call.context().get::<u8>().copied();
            audit.note(format!("{} {provided:?} {:?}", call.arguments(), after.duration()));
            async { After::replace(Observation::text("later")) }
        })
    };
    let (pool, _) = pool([Hook::before("*", rewrite), Hook::before("*", deny), note]);
    assert_eq!(text(&pool.call(to_ada()).await), "later");
    assert_eq!(audit.all(), [r#"{"to":"bob"} Some(7) 0ns"#]);
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_calls_that_time_out_or_are_cancelled_while_waiting() {
    let audit = Seen::default();
    let hold = Tool::builder("hold", "Hold on.").handler(std::future::pending::<()>);
    let hang = |_: HookCall| std::future::pending::<Before>();
    let (builder, seen) = builder();
    let hang = Hook::before("fail", hang).timeout(Duration::from_secs(3600));
    let pool = builder.add(hold).hook(hang).hook(audit_with(&audit)).build().expect("a pool");
    let soon = tokio::time::Instant::now().into_std() + Duration::from_secs(1);
    let context = pool.context().with_deadline(soon);
    // The second call waits for a key until its time limit.
    let calls = [ToolCall::new("hold", "").with_call_id("a"), to_ada().with_call_id("b")];
    let results = in_time(pool.batch(calls).context(&context).run()).await;
    assert_eq!([class(&results[0]), class(&results[1])], [ErrorClass::Timeout; 2]);
    // The pool is closed while a hook waits.
    let waiting = pool.call(ToolCall::new("fail", "").with_call_id("c"));
    let (result, ()) = in_time(async { tokio::join!(waiting, pool.close()) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let mut audited = audit.all();
    audited.sort();
    let expected =
        ["a hold {} timeout", r#"b mail.send {"to":"ada"} timeout"#, "c fail {} cancelled"];
    assert_eq!(audited, expected);
    assert!(seen.all().is_empty(), "no tool ran");
}

#[tokio::test]
async fn after_hooks_see_a_call_that_is_nested_too_deep() {
    let audit = Seen::default();
    let again = Tool::builder("again", "Call itself.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let inner = context.call(ToolCall::new("again", "").with_call_id("inner")).await;
            inner.error().map_or_else(|| inner.observation().to_text(), ToString::to_string)
        },
    );
    let pool = ToolPool::builder().add(again).hook(audit_with(&audit)).build().expect("a pool");
    text(&pool.call(ToolCall::new("again", "")).await);
    let seen = audit.all();
    assert_eq!(seen[0], "inner again {} denied");
    assert!(seen[1..].iter().all(|call| call.ends_with("ok")), "{seen:?}");
}
