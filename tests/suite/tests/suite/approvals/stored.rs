//! Approvals for later calls, in a store that outlives the program.

use super::super::support::in_time;
use super::{Directory, Removed, builder, remove_call};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tool_runtime::Principal;
use tool_runtime::approvals::{ApprovalStore, FileStore, MemoryStore, Remembering, StoreError};
use tool_runtime::govern::{Approval, ApprovalRequest, Remember};
use tool_runtime::matching::MatchAs;
use tool_runtime::prelude::*;

/// One start of a program, whose person approves all below `/srv` and counts the questions.
struct Program {
    pool: ToolPool,
    questions: Arc<AtomicUsize>,
}

impl Program {
    fn start(store: impl ApprovalStore, expiry: Duration) -> Self {
        let questions = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&questions);
        let person = move |_: ApprovalRequest| {
            count.fetch_add(1, Ordering::Relaxed);
            let pattern = Remember::pattern("path", MatchAs::Path, "/srv/**");
            std::future::ready(Approval::approved().by("grace").remembered(pattern))
        };
        let approver = Remembering::new(person).kept_in(store).expiry(expiry);
        let pool = builder(&Removed::default(), |decision| decision).approver(approver);
        Self { pool: pool.build().unwrap(), questions }
    }

    /// Whether a call of this caller asks.
    async fn asks(&self, principal: &str, path: &str) -> bool {
        let before = self.questions.load(Ordering::Relaxed);
        let pool = self.pool.for_principal(Principal::new(principal));
        let result = in_time(pool.call(remove_call(path))).await;
        assert!(!result.is_error(), "{result:?}");
        self.questions.load(Ordering::Relaxed) > before
    }
}

const DAY: Duration = Duration::from_secs(86_400);

async fn check(store: impl ApprovalStore + Clone) {
    let first = Program::start(store.clone(), DAY);
    assert!(first.asks("ada", "/srv/a").await);
    assert!(!first.asks("ada", "/srv/b").await);
    let kept = store.remembered().await.unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!((&*kept[0].caller, &*kept[0].tool), ("ada", "remove"));
    assert_eq!((kept[0].rule.as_deref(), kept[0].by.as_deref()), (Some("removals"), Some("grace")));

    let later = Program::start(store.clone(), DAY);
    assert!(!later.asks("ada", "/srv/c").await);
    for (principal, path) in [("bob", "/srv/c"), ("", "/srv/c"), ("ada", "/srv/../etc")] {
        assert!(later.asks(principal, path).await, "{principal} {path}");
    }
    assert!(store.remembered().await.unwrap().iter().all(|kept| !kept.caller.is_empty()));

    // Withdrawn while the program runs.
    for kept in store.remembered().await.unwrap() {
        store.forget(&kept.id).await.unwrap();
        let again = store.forget(&kept.id).await;
        assert_eq!(again, Err(StoreError::NotRemembered(kept.id)));
    }
    assert!(later.asks("ada", "/srv/d").await);
}

#[tokio::test]
async fn an_approval_for_a_pattern_outlives_the_program_until_it_is_withdrawn() {
    check(MemoryStore::new()).await;
    let directory = Directory::new("remembered");
    check(FileStore::open(&directory.0).unwrap()).await;
}

#[tokio::test]
async fn an_approval_that_has_expired_does_not_count() {
    let directory = Directory::new("remembered-expired");
    let store = FileStore::open(&directory.0).unwrap();
    let program = Program::start(store.clone(), Duration::ZERO);
    for path in ["/srv/a", "/srv/b", "/srv/c"] {
        assert!(program.asks("ada", path).await);
        assert!(store.remembered().await.unwrap().is_empty());
    }
    // Each new one removes those that have expired.
    let files = std::fs::read_dir(&directory.0).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.filter(|name| name.to_string_lossy().ends_with(".remembered.json"));
    assert_eq!(files.count(), 1);
}
