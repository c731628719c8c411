//! Approvals for later calls, in a store that outlives the program.

use super::super::support::in_time;
use super::inbox::{command, question};
use super::{Directory, Removed, builder, remove_call};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tool_runtime::approvals::{
    ApprovalStore, FileStore, Inbox, MemoryStore, Remembering, StoreError,
};
use tool_runtime::prelude::*;
use tool_runtime::{Approval, ApprovalRequest, MatchAs, Principal, Remember};

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

#[tokio::test]
async fn commands_approve_for_a_pattern_and_withdraw_it() {
    let directory = Directory::new("remembered-commands");
    let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
    let approver = Remembering::new(Inbox::new(store.clone())).kept_in(store.clone());
    let pool = builder(&Removed::default(), |decision| decision).approver(approver);
    let pool = pool.build().unwrap().for_principal(Principal::new("ada"));
    let none = (Some(0), "no approvals for later calls\n".to_owned());
    assert_eq!(command(&directory, &["remembered"]).await, none);

    let person = async {
        let id = question(&store).await.request.id;
        for (like, kind) in [("path", "path"), ("=/srv/**", "path"), ("path=/srv/**", "glob")] {
            let words = ["approve", &id, "--like", like, "--kind", kind];
            let (code, text) = command(&directory, &words).await;
            assert_eq!(code, Some(2), "{text}");
        }
        let (code, text) = command(&directory, &["approve", &id, "--like", "file=/srv/**"]).await;
        assert!(code == Some(2) && text.contains("no argument `file`"), "{text}");
        let edited = ["approve", &id, "--like", "path=/srv/**", "--args", "{}"];
        let (code, text) = command(&directory, &edited).await;
        assert!(code == Some(2) && text.contains("is for one call"), "{text}");
        let (code, text) = command(&directory, &["approve", &id, "--like", "path=/srv/**"]).await;
        assert_eq!(code, Some(0), "{text}");
        let reach =
            "\nlater calls of remove run as well if `path` matches, whatever `password` may be\n";
        assert!(text.ends_with(reach), "{text}");
    };
    let (result, ()) =
        in_time(async { tokio::join!(pool.call(remove_call("/srv/a")), person) }).await;
    assert_eq!(result.observation().to_text(), "removed /srv/a");
    let unasked = in_time(pool.call(remove_call("/srv/b"))).await;
    assert_eq!(unasked.observation().to_text(), "removed /srv/b");

    let (_, list) = command(&directory, &["remembered"]).await;
    let expected = "  remove of ada, if `path` matches path `/srv/**`, whatever `password` may be\n  720 h left, approved by ";
    assert!(list.contains("Remove it?") && list.contains(expected), "{list}");
    let (_, json) = command(&directory, &["remembered", "--json"]).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let id = json[0]["id"].as_str().unwrap();
    assert_eq!(
        command(&directory, &["forget", &id[..8]]).await,
        (Some(0), "forgotten: remove of ada\n".to_owned())
    );
    assert_eq!(command(&directory, &["remembered"]).await, none);
    let (code, unknown) = command(&directory, &["forget", id]).await;
    assert!(code == Some(1) && unknown.contains("is not the id of a remembered"), "{unknown}");
}
