//! Rules for every approver: identity, expiry, edited arguments.

use super::super::support::{class, in_time};
use super::{RemoveAction, Removed, builder, by_others, remove_call};
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tool_runtime::Principal;
use tool_runtime::approvals::{Inbox, MemoryStore};
use tool_runtime::govern::{
    Approval, ApprovalRequest, Approvers, CallView, Decision, PolicyEngine,
};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::policy::{Policy, Rule};
use tool_runtime::prelude::*;

/// The result of a call by `ada` with an approver that always gives this answer.
async fn call_as_ada(asking: fn(Decision) -> Decision, answer: Approval) -> (String, usize) {
    let removed = Removed::default();
    let approver = move |_: ApprovalRequest| ready(answer.clone());
    let pool = builder(&removed, asking).approver(approver).build().unwrap();
    let pool = pool.for_principal(Principal::new("ada"));
    (pool.call(remove_call("a")).await.observation().to_text(), removed.all().len())
}

fn by_grace(decision: Decision) -> Decision {
    decision.approved_by(Approvers::people(["grace"]))
}

fn by_grace_or_caller(decision: Decision) -> Decision {
    decision.approved_by(Approvers::people(["grace"]).or_caller())
}

fn by_caller_alone(decision: Decision) -> Decision {
    decision.approved_by(Approvers::caller())
}

#[tokio::test]
async fn only_approvers_named_by_the_rule_may_approve() {
    let yes = Approval::approved;
    let own_call = "the caller may not approve its own call";
    let unnamed = "an unnamed person may not approve it";
    let bob = "`bob` may not approve it";
    for (asking, answer, rejection) in [
        (by_others as fn(Decision) -> Decision, yes(), None),
        (by_others, yes().by("bob"), None),
        (by_others, yes().by("ada"), Some(own_call)),
        (by_others, yes().by_caller(), Some(own_call)),
        (by_others, yes().by_caller().by("bob"), Some(own_call)),
        (|decision| decision, yes().by("ada"), None),
        (|decision| decision, yes().by_caller(), None),
        (|decision| decision, yes(), None),
        (by_grace, yes().by("grace"), None),
        (by_grace, yes().by("Grace"), Some("`Grace` may not approve it")),
        (by_grace, yes().by("bob"), Some(bob)),
        (by_grace, yes(), Some(unnamed)),
        (by_grace, yes().by_caller().by("grace"), Some(own_call)),
        (by_grace_or_caller, yes().by_caller(), None),
        (by_grace_or_caller, yes().by("bob"), Some(bob)),
        (by_caller_alone, yes().by_caller(), None),
        (by_caller_alone, yes().by("bob"), Some(bob)),
        (by_caller_alone, yes(), Some(unnamed)),
    ] {
        let (text, removed) = call_as_ada(asking, answer.clone()).await;
        match rejection {
            None => assert_eq!((text.as_str(), removed), ("removed a", 1), "{answer:?}"),
            Some(reason) => {
                let expected = format!("the call to `remove` was not approved: {reason}");
                assert_eq!((text, removed), (expected, 0), "{answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_hook_can_name_approvers() {
    let pool = |approvers: Approvers| {
        let hook = Hook::before("*", move |_: HookCall| {
            ready(Before::ask("Sure?").approved_by(approvers.clone()))
        });
        let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
        let approver = |_: ApprovalRequest| ready(Approval::approved().by_caller());
        ToolPool::builder().add(ping).hook(hook).approver(approver).build().unwrap()
    };
    let call = || ToolCall::new("ping", "");
    let rejected = pool(Approvers::others()).call(call()).await;
    assert_eq!(class(&rejected), ErrorClass::ApprovalRejected);
    assert!(!pool(Approvers::caller()).call(call()).await.is_error());
}

#[tokio::test]
async fn a_request_has_everything_that_an_approver_needs() {
    let (removed, seen) = (Removed::default(), Arc::new(Mutex::new(None)));
    let slot = Arc::clone(&seen);
    let approver = move |request: ApprovalRequest| {
        *slot.lock().unwrap() = Some(request);
        ready(Approval::rejected("no"))
    };
    let asking = |decision: Decision| decision.with_expiry(Duration::from_secs(60));
    let pool = builder(&removed, asking).approver(approver).build().unwrap();
    let session = pool.session();
    let pool = session.pool().for_principal(Principal::new("ada"));
    pool.call(remove_call("a")).await;
    let request = seen.lock().unwrap().take().unwrap();
    assert_eq!((request.question(), request.rule()), ("Remove it?", Some("removals")));
    assert_eq!(request.principal().id(), "ada");
    assert_eq!(request.session(), Some(session.id()));
    assert_eq!(request.arguments(), r#"{"path":"a","password":"hunter2"}"#);
    assert_eq!(request.display_arguments(), r#"{"path":"a","password":"***"}"#);
    let time_left = request.time_left().unwrap();
    assert!(time_left > Duration::from_secs(50) && time_left <= Duration::from_secs(60));
    assert_eq!(request.approvers(), &Approvers::everyone());
}

#[tokio::test(start_paused = true)]
async fn a_question_expires() {
    let removed = Removed::default();
    let never = |_: ApprovalRequest| std::future::pending::<Approval>();
    let asking = |decision: Decision| decision.with_expiry(Duration::from_secs(900));
    let pool = builder(&removed, asking).approver(never).build().unwrap();
    let start = tokio::time::Instant::now();
    let result = in_time(pool.call(remove_call("a"))).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    let text = "the call to `remove` was not approved: nobody answered within 900s";
    assert_eq!(result.observation().to_text(), text);
    assert_eq!(start.elapsed().as_secs(), 900);
    assert!(removed.all().is_empty());
}

#[tokio::test]
async fn edited_arguments_are_validated_and_decided_again() {
    let edited = |text: &str| Approval::approved().with_arguments(text);
    for (answer, expected) in [
        (edited(r#"{"path":"b"}"#), "removed b"),
        (
            edited(r#"{"path":""}"#),
            "the call to `remove` was not approved: its arguments were changed and are not valid",
        ),
        (
            edited(r#"{"pth":"b"}"#),
            "the call to `remove` was not approved: its arguments were changed and are not valid",
        ),
        (
            edited("oops"),
            "the call to `remove` was not approved: its arguments were changed and are not valid",
        ),
        (edited(r#"{"path":"keep"}"#), "the call to `remove` is not allowed: `keep` is kept"),
    ] {
        let (text, removed) = call_as_ada(|decision| decision, answer).await;
        assert_eq!(text, expected);
        assert_eq!(removed, usize::from(text == "removed b"));
    }
}

/// Asks `grace` about the path `big`, and every person about others.
struct GraceAboutBig;

impl PolicyEngine for GraceAboutBig {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.argument("path").and_then(|path| path.as_str()) {
            Some("big") => by_grace(Decision::ask("Remove a big one?")),
            _ => Decision::ask("Remove it?"),
        }
    }
}

#[tokio::test]
async fn a_person_does_not_edit_a_call_into_one_of_other_approvers() {
    for (by, path, expected) in [
        ("bob", "small", "removed small"),
        ("grace", "big", "removed big"),
        ("bob", "big", "the call to `remove` was not approved: `bob` may not approve it"),
    ] {
        let removed = Removed::default();
        let pool = ToolPool::builder().tool::<RemoveAction>().state(removed.clone());
        let approver = move |_: ApprovalRequest| {
            let edited = format!(r#"{{"path":"{path}"}}"#);
            ready(Approval::approved().by(by).with_arguments(edited))
        };
        let pool = pool.policy(GraceAboutBig).approver(approver).build().unwrap();
        let result = pool.call(remove_call("a")).await;
        assert!(result.observation().to_text().starts_with(expected), "{by} {path}: {result:?}");
        assert_eq!(removed.all().len(), usize::from(expected.starts_with("removed")));
    }
}

/// Asks this person about every call.
struct AskPerson(&'static str);

impl PolicyEngine for AskPerson {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        Decision::ask(self.0).approved_by(Approvers::people([self.0]))
    }
}

#[tokio::test]
async fn a_person_does_not_edit_what_others_have_approved() {
    let rejected = "the call to `remove` was not approved: its arguments were changed after other people had approved them";
    for (editor, expected) in [("ada", "removed b"), ("bob", rejected)] {
        let removed = Removed::default();
        let pool = ToolPool::builder().tool::<RemoveAction>().state(removed.clone());
        let approver = move |request: ApprovalRequest| {
            let by = request.question();
            let answer = Approval::approved().by(by);
            ready(if by == editor { answer.with_arguments(r#"{"path":"b"}"#) } else { answer })
        };
        let pool = pool.policy(AskPerson("ada")).policy(AskPerson("bob")).approver(approver);
        let result = pool.build().unwrap().call(remove_call("a")).await;
        let text = result.observation().to_text();
        assert!(text.starts_with(expected), "{editor}: {text}");
        assert_eq!(removed.all().len(), usize::from(editor == "ada"));
    }
}

/// Run a command.
#[tool(register = false)]
async fn run(
    /// The command.
    #[arg(alias("cmd", "line"))]
    command: String,
) -> String {
    command
}

#[tokio::test]
async fn engines_see_arguments_that_are_given_by_an_alias() {
    struct NoRm;
    impl PolicyEngine for NoRm {
        fn decide(&self, call: &CallView<'_>) -> Decision {
            match call.argument("command").and_then(|command| command.as_str()) {
                Some(command) if !command.starts_with("rm") => Decision::allow(),
                _ => Decision::deny("no `rm`"),
            }
        }
    }
    let pool = ToolPool::builder().tool::<RunAction>().policy(NoRm).build().unwrap();
    for (arguments, is_error) in [
        (r#"{"command":"ls"}"#, false),
        (r#"{"cmd":"ls"}"#, false),
        (r#"{"cmd":"rm a"}"#, true),
        (r#"{"command":"ls","cmd":"rm a"}"#, true),
    ] {
        let result = pool.call(ToolCall::new("run", arguments)).await;
        assert_eq!(result.is_error(), is_error, "{arguments}");
    }
}

/// Denies calls, asks `grace` or asks every person, as its number says.
#[derive(Clone, Default)]
struct Changing(Arc<AtomicUsize>);

impl PolicyEngine for Changing {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        match self.0.load(Ordering::Relaxed) {
            0 => Decision::ask("Remove it?"),
            1 => by_grace(Decision::ask("Remove it today?")),
            _ => Decision::deny("nothing is removed now"),
        }
    }
}

#[tokio::test]
async fn policies_decide_again_once_a_person_has_answered() {
    for (later, expected) in [
        (0, "removed a"),
        (
            1,
            "the call to `remove` was not approved: the rules changed while a person was asked; call it again",
        ),
        (2, "the call to `remove` is not allowed: nothing is removed now"),
    ] {
        let (removed, policy) = (Removed::default(), Changing::default());
        let pool = ToolPool::builder().tool::<RemoveAction>().state(removed.clone());
        let state = Arc::clone(&policy.0);
        let approver = move |_: ApprovalRequest| {
            state.store(later, Ordering::Relaxed);
            ready(Approval::approved().by("grace"))
        };
        let pool = pool.policy(policy).approver(approver).build().unwrap();
        assert_eq!(pool.call(remove_call("a")).await.observation().to_text(), expected);
        assert_eq!(removed.all().len(), usize::from(later == 0));
    }
}

#[tokio::test]
async fn a_call_without_an_available_approver_is_denied() {
    let (text, removed) =
        call_as_ada(|decision| decision, Approval::unasked("the office is closed")).await;
    let expected = "the call to `remove` is not allowed: it requires approval, and nobody can be asked: the office is closed";
    assert_eq!((text.as_str(), removed), (expected, 0));
    let removed = Removed::default();
    let result =
        builder(&removed, |decision| decision).build().unwrap().call(remove_call("a")).await;
    assert_eq!(class(&result), ErrorClass::Denied);
}

#[test]
fn a_question_that_no_approver_may_put_to_its_people_is_an_error_of_the_build() {
    let policy = |approvers| {
        let rule = Rule::ask("removals").tool("remove").approved_by(approvers);
        Policy::builder().rule(rule).build().unwrap()
    };
    let builder = |approvers| {
        let pool = ToolPool::builder().tool::<RemoveAction>().state(Removed::default());
        pool.install(policy(approvers))
    };
    let by_ada = || Approvers::people(["ada"]);
    let error = builder(by_ada()).build().unwrap_err().to_string();
    let expected = "the question of `removals` may be answered by `ada`, whom the pool's approver never asks; name other people in the rule, or add an approver that asks them, such as `approvals::Inbox`";
    assert!(error.contains(expected), "{error}");
    let inbox = || Inbox::new(MemoryStore::new());
    let error = builder(Approvers::caller()).approver(inbox()).build().unwrap_err().to_string();
    assert!(error.contains("answered by the caller"), "{error}");
    for (approvers, is_caller_asked) in
        [(Approvers::everyone(), true), (Approvers::caller(), true), (by_ada(), false)]
    {
        let builder = builder(approvers);
        let pool = if is_caller_asked { builder } else { builder.approver(inbox()) };
        pool.build().unwrap();
    }
}
