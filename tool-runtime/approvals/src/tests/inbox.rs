//! Questions of an inbox, and what becomes of their answers.

use super::*;
use crate::Remembering;
use tokio::time::Instant;
use tool_runtime_core::govern::{AskCaller, CallView, Decision, PolicyEngine};
#[cfg(feature = "cli")]
use tool_runtime_core::pool::PoolExtension;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolCall};

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_store_took_in_time_counts() {
    // The inbox does not look at its store again before the time is up.
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(directory.path()).unwrap().poll_interval(DAY);
    let inbox = Inbox::new(store.clone()).expiry(Duration::from_secs(60));
    let request = request("a");
    let person = async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        let asked = store.list().await.unwrap().remove(0).request;
        store.answer(&asked.id, yes()).await.unwrap();
    };
    let (answer, ()) = tokio::join!(inbox.approve(&request), person);
    assert_eq!(answer, Approval::approved().by("grace"));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_stays_as_expired() {
    let store = MemoryStore::new();
    let inbox = Inbox::new(store.clone()).expiry(Duration::from_secs(5));
    let answer = inbox.approve(&request("a")).await;
    assert!(
        matches!(&answer, Approval::Rejected { reason, .. } if reason.contains("nobody answered"))
    );
    let all = store.list().await.unwrap();
    assert!(all.len() == 1 && all[0].is_expired, "{all:?}");
    let id = all[0].request.id.clone();
    assert_eq!(store.answer(&id, yes()).await, Err(StoreError::Expired(id)));
}

#[test]
fn each_approver_says_whom_it_reaches() {
    let inbox = Inbox::new(MemoryStore::new());
    assert!(inbox.reaches(&Approvers::everyone()) && inbox.reaches(&Approvers::people(["ada"])));
    assert!(!inbox.reaches(&Approvers::caller()));
    let remembering = Remembering::new(inbox);
    assert!(
        remembering.reaches(&Approvers::others()) && !remembering.reaches(&Approvers::caller())
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_ends_the_wait_at_once() {
    let (store, begin) = (MemoryStore::new(), Instant::now());
    let inbox = Inbox::new(store.clone());
    let request = request("a");
    let person = async {
        let asked = asked(&store).await;
        assert_eq!(asked.expires_at - asked.asked_at, 15 * 60 * 1000, "the default time");
        store.answer(&asked.id, yes()).await.unwrap();
    };
    let (answer, ()) = tokio::join!(inbox.approve(&request), person);
    assert_eq!(answer, Approval::approved().by("grace"));
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn other_arguments_count_if_they_are_valid_and_the_call_is_approved() {
    let with = |answer: ApprovalAnswer, arguments: &str| ApprovalAnswer {
        arguments: Some(arguments.to_owned()),
        ..answer
    };
    let deny = || ApprovalAnswer::deny("not now".to_owned()).by("grace");
    let invalid = "its arguments were changed and are not valid: ";
    for (answer, expected) in [
        (with(yes(), r#"{ "path": "b" }"#), Ok(Some(r#"{"path":"b"}"#))),
        (with(yes(), "[]"), Err(invalid)),
        (with(deny(), "[]"), Err("not now")),
    ] {
        let store = MemoryStore::new();
        let inbox = Inbox::new(store.clone());
        let (request, text) = (request("a"), format!("{answer:?}"));
        let person = async { store.answer(&asked(&store).await.id, answer).await.unwrap() };
        match tokio::join!(inbox.approve(&request), person).0 {
            Approval::Approved { arguments, by, .. } => {
                assert_eq!(Ok(arguments.as_deref()), expected, "{text}");
                assert_eq!(by.as_deref(), Some("grace"), "{text}");
            }
            Approval::Rejected { reason, by, .. } => {
                assert!(expected.is_err_and(|start| reason.starts_with(start)), "{text}: {reason}");
                assert_eq!(by.as_deref(), Some("grace"), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn an_inbox_brings_commands_if_other_processes_see_its_questions() {
    use tool_runtime_command::seam::Commands as _;
    let directory = tempfile::tempdir().unwrap();
    let files = FileStore::open(directory.path()).unwrap();
    let commands = |inbox: Inbox| {
        let pool = inbox.install(ToolPool::builder().allow_empty()).build().unwrap();
        pool.commands().len()
    };
    assert_eq!(commands(Inbox::new(MemoryStore::new())), 0);
    assert_eq!(commands(Inbox::new(files.clone())), 5);
    assert_eq!(commands(Inbox::new(Arc::new(files))), 5);
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_rule_ends_in_the_inbox_when_its_time_is_over() {
    let deny_all = |_: ApprovalRequest| std::future::ready(Approval::unasked("nobody is here"));
    let store = MemoryStore::new();
    let approver = Remembering::new(AskCaller::new().or(deny_all).or(Inbox::new(store.clone())));
    struct AskForAMinute;
    impl PolicyEngine for AskForAMinute {
        fn decide(&self, _: &CallView<'_>) -> Decision {
            Decision::ask("May it?").with_expiry(Duration::from_secs(60))
        }
    }
    let pool = ToolPool::builder()
        .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
        .policy(AskForAMinute)
        .approver(approver)
        .build()
        .unwrap();
    let result = pool.call(ToolCall::new("ping", "")).await;
    let text = "the call to `ping` was not approved: nobody answered within 60s";
    assert_eq!(result.observation().to_text(), text);
    let [stored] = store.list().await.unwrap().try_into().unwrap();
    assert!(stored.is_expired, "{stored:?}");
    let id = stored.request.id;
    assert_eq!(store.answer(&id, yes()).await, Err(StoreError::Expired(id)));
}
