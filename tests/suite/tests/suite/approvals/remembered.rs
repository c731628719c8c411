//! Approvals that are remembered for later calls, and their limits.

use super::{RemoveAction, Removed, builder, by_others, remove_call};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::Principal;
use tool_runtime::approvals::Remembering;
use tool_runtime::govern::{
    Approval, ApprovalRequest, Approvers, CallView, Decision, PolicyEngine, Remember, Risk,
};
use tool_runtime::matching::MatchAs;
use tool_runtime::policy::{ConfirmRisk, Confirmation, SecurityAnalyzer};
use tool_runtime::pool::PoolSession;
use tool_runtime::prelude::*;

/// Makes calls in sessions, and compares which of them ask.
async fn check<'a>(
    asked: &AtomicUsize,
    calls: impl IntoIterator<Item = (&'a PoolSession, &'a str, ToolCall, bool)>,
) {
    for (session, principal, call, is_asked) in calls {
        let before = asked.load(Ordering::Relaxed);
        let text = format!("{principal}: {call:?}");
        session.pool().for_principal(Principal::new(principal)).call(call).await;
        assert_eq!(asked.load(Ordering::Relaxed) - before, usize::from(is_asked), "{text}");
    }
}

/// A pool with an approver that gives this answer and counts its questions.
fn pool(answer: Approval, asking: fn(Decision) -> Decision) -> (ToolPool, Arc<AtomicUsize>) {
    let questions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&questions);
    let approver = Remembering::new(move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(answer.clone())
    });
    let removed = Removed::default();
    (builder(&removed, asking).approver(approver).build().unwrap(), questions)
}

fn list_call() -> ToolCall {
    ToolCall::new("list", "")
}

#[tokio::test]
async fn an_approval_for_a_call_is_for_that_call() {
    let (pool, asked) = pool(Approval::approved(), |decision| decision);
    let session = pool.session();
    check(&asked, [1, 2].map(|_| (&session, "ada", remove_call("a"), true))).await;
}

#[tokio::test]
async fn an_approval_for_a_session_is_for_one_caller_tool_and_session() {
    let answer = Approval::approved().remembered(Remember::Session);
    let (pool, asked) = pool(answer, |decision| decision);
    let (one, other) = (pool.session(), pool.session());
    let calls = [
        (&one, "ada", remove_call("a"), true),
        (&one, "ada", remove_call("b"), false),
        (&one, "ada", list_call(), true),
        (&one, "ada", list_call(), false),
        (&one, "bob", remove_call("a"), true),
        (&one, "", remove_call("a"), true),
        (&other, "ada", remove_call("a"), true),
        (&one, "ada", remove_call("c"), false),
    ];
    check(&asked, calls).await;
    // Without a session, there is nothing to remember it for.
    let before = asked.load(Ordering::Relaxed);
    let alone = pool.for_principal(Principal::new("ada"));
    alone.call(remove_call("a")).await;
    alone.call(remove_call("a")).await;
    assert_eq!(asked.load(Ordering::Relaxed), before + 2);
}

/// Asks one person, who changes.
#[derive(Clone, Default)]
struct AskOne(Arc<AtomicUsize>);

impl PolicyEngine for AskOne {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        let person = ["bob", "grace"][self.0.load(Ordering::Relaxed)];
        Decision::ask("Remove it?").with_rule("one").approved_by(Approvers::people([person]))
    }
}

#[tokio::test]
async fn an_answer_of_a_person_who_may_not_answer_any_more_is_asked_for_again() {
    let (policy, asked) = (AskOne::default(), Arc::new(AtomicUsize::new(0)));
    let (person, count) = (Arc::clone(&policy.0), Arc::clone(&asked));
    let approver = Remembering::new(move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        let by = ["bob", "grace"][person.load(Ordering::Relaxed)];
        std::future::ready(Approval::approved().by(by).remembered(Remember::Session))
    });
    let removed = Removed::default();
    let pool = ToolPool::builder().tool::<RemoveAction>().state(removed.clone());
    let pool = pool.policy(policy.clone()).approver(approver).build().unwrap();
    let session = pool.session();
    check(&asked, [true, false].map(|is_asked| (&session, "ada", remove_call("a"), is_asked)))
        .await;
    policy.0.store(1, Ordering::Relaxed);
    check(&asked, [true, false].map(|is_asked| (&session, "ada", remove_call("a"), is_asked)))
        .await;
    assert_eq!(removed.all().len(), 4);
}

#[tokio::test]
async fn an_answer_about_a_risk_is_for_that_risk() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let approver = Remembering::new(move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Approval::approved().remembered(Remember::Session))
    });
    struct BigIsHigh;
    impl SecurityAnalyzer for BigIsHigh {
        fn analyze(&self, call: &CallView<'_>) -> Risk {
            match call.argument("path") {
                Some(path) if path == "big" => Risk::High,
                _ => Risk::Medium,
            }
        }
    }
    let confirm = ConfirmRisk::new(Confirmation::medium()).analyzer(BigIsHigh);
    let pool = ToolPool::builder().tool::<RemoveAction>().state(Removed::default());
    let pool = pool.policy(confirm).approver(approver).build().unwrap();
    let session = pool.session();
    let calls = [("a", true), ("b", false), ("big", true), ("big", false)];
    check(&asked, calls.map(|(path, asks)| (&session, "ada", remove_call(path), asks))).await;
}

#[tokio::test]
async fn an_approval_for_a_pattern_is_for_arguments_that_match() {
    let pattern = Remember::pattern("path", MatchAs::Path, "/srv/**");
    let (pool, asked) = pool(Approval::approved().remembered(pattern), |decision| decision);
    let (one, other) = (pool.session(), pool.session());
    let calls = [
        (&one, "ada", "/srv/a", true),
        (&one, "ada", "/srv/b/c", false),
        (&other, "ada", "/srv/d", false),
        (&one, "ada", "/etc/passwd", true),
        (&one, "ada", "/srv/../etc/passwd", true),
        (&one, "bob", "/srv/a", true),
    ];
    let call =
        |(session, principal, path, is_asked)| (session, principal, remove_call(path), is_asked);
    check(&asked, calls.map(call)).await;
}

#[tokio::test]
async fn unusable_answers_are_not_remembered() {
    let unusable = Remember::pattern("path", MatchAs::Shell, "rm *");
    for answer in [
        Approval::rejected("no"),
        Approval::approved().with_arguments(r#"{"path":"b"}"#).remembered(Remember::Session),
        Approval::approved().remembered(unusable),
        Approval::approved().by_caller().remembered(Remember::Session),
    ] {
        let (pool, asked) = pool(answer, by_others);
        let session = pool.session();
        check(&asked, [1, 2].map(|_| (&session, "ada", remove_call("a"), true))).await;
    }
}

#[tokio::test]
async fn a_stricter_decision_later_is_not_bypassed() {
    let answer = Approval::approved().remembered(Remember::Session);
    let (pool, asked) = pool(answer, |decision| decision);
    let session = pool.session();
    session.pool().call(remove_call("a")).await;
    let denied = session.pool().call(remove_call("keep")).await;
    assert!(denied.observation().to_text().ends_with("`keep` is kept"));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
