//! The life of questions and of approvals for later calls, in each store.

use crate::{
    ApprovalAnswer, ApprovalStore, FileStore, Inbox, MemoryStore, PendingApproval, Remembering,
    StoreError,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tool_runtime_core::{
    Approval, ApprovalRequest, Approver, Approvers, AskCaller, CallView, Decision, MatchAs,
    PolicyEngine, Principal, Remember, Tool, ToolCall, ToolContext, ToolPool,
};

const DAY: Duration = Duration::from_secs(86_400);

/// A question of ada about a path.
fn request(path: &str) -> ApprovalRequest {
    let arguments = serde_json::json!({ "path": path }).to_string();
    let context = ToolContext::default().with_principal(Principal::new("ada"));
    ApprovalRequest::new("remove", arguments, "Remove it?").with_context(context)
}

fn pending() -> PendingApproval {
    PendingApproval::new(&request("a"), Duration::from_secs(60))
}

/// A question whose time was up a moment ago.
fn late() -> PendingApproval {
    let pending = pending();
    PendingApproval { expires_at: pending.asked_at - 1, ..pending }
}

async fn in_each_store(check: impl AsyncFn(Arc<dyn ApprovalStore>)) {
    check(Arc::new(MemoryStore::new())).await;
    let directory = tempfile::tempdir().unwrap();
    let files = FileStore::open(directory.path()).unwrap();
    check(Arc::new(files.poll_interval(Duration::from_millis(5)))).await;
}

fn yes() -> ApprovalAnswer {
    ApprovalAnswer::approve().by("grace")
}

#[tokio::test]
async fn the_first_answer_in_time_counts() {
    in_each_store(async |store| {
        let id = store.open(pending()).await.unwrap().request.id;
        store.answer(&id, yes()).await.unwrap();
        assert_eq!(store.answer(&id, yes()).await, Err(StoreError::Answered(id.clone())));
        let ended = store.expire(&id).await.unwrap().unwrap();
        assert_eq!((ended.answer, ended.is_expired), (Some(yes()), false));
    })
    .await;
}

#[tokio::test]
async fn a_late_answer_is_told_that_the_question_has_expired() {
    in_each_store(async |store| {
        let id = store.open(pending()).await.unwrap().request.id;
        assert_eq!(store.expire(&id).await.unwrap().unwrap().answer, None);
        assert_eq!(store.answer(&id, yes()).await, Err(StoreError::Expired(id.clone())));
        let late = store.open(late()).await.unwrap().request.id;
        assert_eq!(store.answer(&late, yes()).await, Err(StoreError::Expired(late.clone())));
        assert!(store.list().await.unwrap().iter().all(|stored| !stored.is_open()));
        assert_eq!(store.expire("0".repeat(32).as_str()).await, Ok(None));
    })
    .await;
}

#[tokio::test]
async fn an_expired_question_is_asked_anew() {
    in_each_store(async |store| {
        let late = late();
        store.open(late.clone()).await.unwrap();
        let again = PendingApproval { id: late.id.clone(), ..pending() };
        assert!(store.open(again.clone()).await.unwrap().is_open());
        // An open one is kept.
        let third = PendingApproval { question: "Other?".to_owned(), ..again };
        assert_eq!(store.open(third).await.unwrap().request.question, "Remove it?");
    })
    .await;
}

#[tokio::test]
async fn expired_questions_are_removed_after_an_hour() {
    in_each_store(async |store| {
        let hours = |hours: u64| {
            let pending = pending();
            let expires_at = pending.asked_at - hours * 3_600_000 - 1_000;
            PendingApproval { expires_at, ..pending }
        };
        let (old, recent) = (hours(1), hours(0));
        for pending in [&old, &recent] {
            store.open(pending.clone()).await.unwrap();
            store.expire(&pending.id).await.unwrap();
        }
        store.open(pending()).await.unwrap();
        assert_eq!(store.get(&old.id).await.unwrap(), None);
        assert!(store.get(&recent.id).await.unwrap().unwrap().is_expired);
    })
    .await;
}

#[tokio::test]
async fn no_more_than_a_thousand_questions_are_open() {
    let store = MemoryStore::new();
    let mut last = String::new();
    for _ in 0..1_000 {
        last = store.open(pending()).await.unwrap().request.id;
    }
    assert_eq!(store.open(pending()).await, Err(StoreError::Full(1_000)));
    store.answer(&last, yes()).await.unwrap();
    assert!(store.open(pending()).await.unwrap().is_open());
}

#[tokio::test]
async fn only_the_people_of_the_question_approve_and_anyone_denies() {
    in_each_store(async |store| {
        let approvers = Approvers::people(["grace"]);
        let asked = PendingApproval { approvers, ..pending() };
        let id = store.open(asked).await.unwrap().request.id;
        let refused = store.answer(&id, ApprovalAnswer::approve().by("bob")).await;
        assert!(matches!(refused, Err(StoreError::NotAllowed { .. })), "{refused:?}");
        store.answer(&id, ApprovalAnswer::deny(None).by("bob")).await.unwrap();
    })
    .await;
}

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

/// A person who approves all below `/srv`, and counts the questions.
fn remembering(
    store: Option<Arc<dyn ApprovalStore>>,
    remember: Remember,
    expiry: Duration,
) -> (Remembering<impl Approver>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let person = move |_: ApprovalRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Approval::approved().by("grace").remembered(remember.clone()))
    };
    let remembering = Remembering::new(person).expiry(expiry);
    let remembering = match store {
        Some(store) => remembering.kept_in(store),
        None => remembering,
    };
    (remembering, asked)
}

fn below_srv() -> Remember {
    Remember::pattern("path", MatchAs::Path, "/srv/**")
}

/// Whether the approver asks its person about the request.
async fn asks(
    (approver, asked): &(Remembering<impl Approver>, Arc<AtomicUsize>),
    request: ApprovalRequest,
) -> bool {
    let before = asked.load(Ordering::Relaxed);
    assert!(matches!(approver.approve(&request).await, Approval::Approved { .. }));
    asked.load(Ordering::Relaxed) > before
}

/// In memory, and in each store.
async fn for_each_keeper(check: impl AsyncFn(Option<Arc<dyn ApprovalStore>>)) {
    check(None).await;
    in_each_store(async |store| check(Some(store)).await).await;
}

#[tokio::test]
async fn an_approval_for_a_pattern_counts_for_what_was_asked() {
    for_each_keeper(async |store| {
        let person = remembering(store, below_srv(), DAY);
        let rule = |request: ApprovalRequest| request.with_rule("removals");
        let other = |question: &str| {
            let context = ToolContext::default().with_principal(Principal::new("ada"));
            ApprovalRequest::new("remove", r#"{"path":"/srv/b"}"#, question).with_context(context)
        };
        for (request, expected) in [
            (request("/srv/a"), true),
            (request("/srv/b"), false),
            (request("/etc/a"), true),
            (other("Remove it for ever?"), true),
            (rule(request("/srv/b")), true),
            (rule(request("/srv/b")), false),
            (rule(other("Remove it for ever?")), true),
            (request("/srv/b").with_approvers(Approvers::people(["bob", "grace"])), false),
        ] {
            let text = format!("{request:?}");
            assert_eq!(asks(&person, request).await, expected, "{text}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_remembered_approval_is_checked_against_the_people_of_the_rule() {
    for_each_keeper(async |store| {
        let person = remembering(store, below_srv(), DAY);
        assert!(asks(&person, request("/srv/a")).await);
        let for_bob = request("/srv/a").with_approvers(Approvers::people(["bob"]));
        assert!(asks(&person, for_bob).await, "grace may not approve it");
    })
    .await;
}

#[tokio::test]
async fn an_approval_of_a_person_who_may_not_is_not_kept() {
    for_each_keeper(async |store| {
        let person = remembering(store, below_srv(), DAY);
        let for_bob = || request("/srv/a").with_approvers(Approvers::people(["bob"]));
        assert!(asks(&person, for_bob()).await);
        assert!(asks(&person, request("/srv/a")).await);
    })
    .await;
}

#[tokio::test]
async fn an_approval_in_a_store_expires_and_can_be_withdrawn() {
    in_each_store(async |store| {
        let expired = remembering(Some(Arc::clone(&store)), below_srv(), Duration::ZERO);
        assert!(asks(&expired, request("/srv/a")).await && asks(&expired, request("/srv/a")).await);
        assert_eq!(store.remembered().await.unwrap(), []);
        let person = remembering(Some(Arc::clone(&store)), below_srv(), DAY);
        assert!(asks(&person, request("/srv/a")).await && !asks(&person, request("/srv/a")).await);
        let kept = store.remembered().await.unwrap();
        assert_eq!((kept.len(), kept[0].by.as_deref()), (1, Some("grace")));
        store.forget(&kept[0].id).await.unwrap();
        let again = store.forget(&kept[0].id).await;
        assert_eq!(again, Err(StoreError::NotRemembered(kept[0].id.clone())));
        assert!(asks(&person, request("/srv/a")).await);
    })
    .await;
}

#[tokio::test]
async fn an_anonymous_caller_without_a_session_is_asked_each_time() {
    for_each_keeper(async |store| {
        let person = remembering(store, below_srv(), DAY);
        let anonymous = || ApprovalRequest::new("remove", r#"{"path":"/srv/a"}"#, "Remove it?");
        assert!(asks(&person, anonymous()).await && asks(&person, anonymous()).await);
    })
    .await;
}

#[tokio::test]
async fn an_approval_for_one_call_is_not_kept() {
    for remember in [Remember::Call, Remember::Session] {
        let person = remembering(None, remember, DAY);
        assert!(asks(&person, request("a")).await && asks(&person, request("a")).await);
    }
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
