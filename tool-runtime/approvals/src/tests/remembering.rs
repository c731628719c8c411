//! Approvals for later calls, in memory and in each store.

use super::*;
use crate::Remembering;
use std::sync::atomic::{AtomicUsize, Ordering};

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

#[tokio::test]
async fn the_oldest_of_more_than_a_thousand_approvals_in_memory_is_forgotten() {
    let person = remembering(None, below_srv(), DAY);
    let about = |number: usize| {
        let context = ToolContext::default().with_principal(Principal::new("ada"));
        let question = format!("Remove {number}?");
        ApprovalRequest::new("remove", r#"{"path":"/srv/a"}"#, question).with_context(context)
    };
    for number in 0..1000 {
        assert!(asks(&person, about(number)).await);
    }
    assert!(!asks(&person, about(0)).await);
    assert!(asks(&person, about(1000)).await && !asks(&person, about(1)).await);
    assert!(asks(&person, about(0)).await);
}
