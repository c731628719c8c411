//! Approval of calls by a person.

use super::super::support::{class, in_time};
use super::{Seen, builder, error, pool, text, to_ada};
use std::time::Duration;
use tool_runtime::CancellationToken;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::prelude::*;

fn ask_hook() -> Hook {
    Hook::before("mail.send", |call: HookCall| async move {
        Before::ask(format!("Send {}?", call.name())).rewriting(r#"{"to":"bob"}"#)
    })
}

#[tokio::test]
async fn a_question_without_an_approver_denies_the_call() {
    let (pool, seen) = pool([ask_hook()]);
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    assert!(error(&result).detail().expect("a detail").contains("Send mail.send?"));
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn an_approver_sees_the_rewritten_call() {
    let requests = Seen::default();
    let approver = {
        let requests = requests.clone();
        move |request: ApprovalRequest| {
            requests.note(format!(
                "{:?} {} {} {}",
                request.call_id(),
                request.question(),
                request.arguments(),
                request.visual()
            ));
            async { Approval::approved() }
        }
    };
    let (builder, seen) = builder();
    let pool = builder.hook(ask_hook()).approver(approver).build().expect("a pool");
    assert_eq!(text(&pool.call(to_ada()).await), "hello to bob");
    assert_eq!(seen.all(), ["sent to bob"]);
    let expected = r#"Some("1") Send mail.send? {"to":"bob"} mail.send(to: "bob")"#;
    assert_eq!(requests.all(), [expected]);
    assert_eq!(text(&pool.call(ToolCall::new("mail.list", "")).await), "two mails");
    assert_eq!(requests.all().len(), 1);
}

#[tokio::test]
async fn a_rejection_or_a_panic_of_the_approver_rejects_the_call() {
    let (rejecting, seen) = builder();
    let reject = |_: ApprovalRequest| async { Approval::rejected("not on a Friday") };
    let pool = rejecting.hook(ask_hook()).approver(reject).build().expect("a pool");
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    assert!(result.observation().to_text().ends_with("not on a Friday"));
    assert!(seen.all().is_empty());
    let (panicking, seen) = builder();
    let panic = |_: ApprovalRequest| async { panic!("no terminal") };
    let pool = panicking.hook(ask_hook().fails_open()).approver(panic).build().expect("a pool");
    let result = pool.call(to_ada()).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    assert!(!result.observation().to_text().contains("terminal"));
    assert!(seen.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn cancellation_and_timeout_end_a_question() {
    let (builder, seen) = builder();
    let never = |_: ApprovalRequest| std::future::pending::<Approval>();
    let pool = builder.hook(ask_hook()).approver(never).build().expect("a pool");
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (result, ()) =
        in_time(async { tokio::join!(pool.call_with(to_ada(), &context), cancel) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let context = pool.context().with_deadline(deadline.into_std());
    let result = in_time(pool.call_with(to_ada(), &context)).await;
    assert_eq!(class(&result), ErrorClass::Timeout);
    assert!(seen.all().is_empty());
}
