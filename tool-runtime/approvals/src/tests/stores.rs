//! The life of questions, in each store.

use super::*;
use crate::RememberedApproval;
use std::fs;

#[tokio::test]
async fn the_first_answer_in_time_counts() {
    in_each_store(async |store| {
        let id = store.open(pending()).await.unwrap().request.id;
        store.answer(&id, yes()).await.unwrap();
        let second = store.answer(&id, ApprovalAnswer::deny(None).by("bob")).await.unwrap_err();
        let text = second.to_string();
        let expected = format!("`{id}` is answered already: it was approved by grace at 2");
        assert!(text.starts_with(&expected) && text.ends_with('Z'), "{text}");
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
async fn answered_questions_are_removed_after_an_hour_unless_the_run_may_be_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(directory.path()).unwrap();
    let answered = async |is_repeatable: bool, minutes: u64| {
        let asked = PendingApproval { is_repeatable, ..pending() };
        let id = store.open(asked).await.unwrap().request.id;
        store.answer(&id, yes()).await.unwrap();
        let file = directory.path().join(format!("{id}.answer.json"));
        let time = std::time::SystemTime::now() - Duration::from_secs(minutes * 60);
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
        id
    };
    let kept = [answered(false, 59).await, answered(true, 61).await];
    let removed = answered(false, 61).await;
    store.open(pending()).await.unwrap();
    for id in &kept {
        assert!(store.get(id).await.unwrap().is_some());
    }
    assert_eq!(store.get(&removed).await.unwrap(), None);
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

#[tokio::test]
async fn questions_that_nobody_asks_or_answers_any_more_are_removed_after_a_week() {
    in_each_store(async |store| {
        let week_ago = || {
            let pending = pending();
            PendingApproval { asked_at: pending.asked_at - 7 * 86_400_000 - 1_000, ..pending }
        };
        let (answered, open) = (week_ago(), week_ago());
        for pending in [&answered, &open] {
            store.open(pending.clone()).await.unwrap();
        }
        store.answer(&answered.id, yes()).await.unwrap();
        store.open(pending()).await.unwrap();
        assert_eq!(store.get(&answered.id).await.unwrap(), None);
        assert!(store.get(&open.id).await.unwrap().unwrap().is_open());
    })
    .await;
}

/// An approval for all below `/srv` that counts for a day.
fn remembered() -> RememberedApproval {
    let pattern = Remember::pattern("path", MatchAs::Path, "/srv/**");
    let approval = Approval::approved().by("grace").remembered(pattern);
    RememberedApproval::new(&request("/srv/a"), &approval, DAY).unwrap()
}

#[tokio::test]
async fn the_oldest_of_more_than_a_thousand_remembered_approvals_is_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let (memory, files) = (MemoryStore::new(), FileStore::open(directory.path()).unwrap());
    let newest = remembered();
    for age in 1..=1000 {
        let old = RememberedApproval { approved_at: newest.approved_at - age, ..remembered() };
        let file = directory.path().join(format!("{}.remembered.json", old.id));
        fs::write(file, serde_json::to_vec(&old).unwrap()).unwrap();
    }
    for old in files.remembered().await.unwrap() {
        memory.remember(old).await.unwrap();
    }
    for store in [&memory as &dyn ApprovalStore, &files] {
        let before = store.remembered().await.unwrap();
        store.remember(newest.clone()).await.unwrap();
        let after = store.remembered().await.unwrap();
        assert_eq!((before.len(), after.len()), (1000, 1000));
        assert_eq!(after[..999], before[1..]);
        assert_eq!(after.last(), Some(&newest));
    }
}

#[tokio::test]
async fn files_that_cannot_be_read_written_or_removed_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(directory.path()).unwrap();
    let id = store.open(pending()).await.unwrap().request.id;
    let is_failure = |error: StoreError| matches!(error, StoreError::Failed(_));
    let block = |name: &str| fs::create_dir(directory.path().join(name)).unwrap();
    // A folder instead of the file.
    block(&format!("{id}.answer.json"));
    assert!(is_failure(store.get(&id).await.unwrap_err()));
    assert!(is_failure(store.remove(&id).await.unwrap_err()));
    let unwritable = PendingApproval { id: "no/folder".to_owned(), ..pending() };
    assert!(is_failure(store.open(unwritable).await.unwrap_err()));
}

#[cfg(unix)]
#[tokio::test]
async fn an_answer_without_a_person_is_that_of_the_user_of_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let store = FileStore::open(directory.path()).unwrap();
    let id = store.open(pending()).await.unwrap().request.id;
    store.answer(&id, ApprovalAnswer::approve()).await.unwrap();
    let answer = store.get(&id).await.unwrap().unwrap().answer.unwrap();
    let by = answer.by.unwrap();
    let id = |option: &str| {
        let output = std::process::Command::new("id").arg(option).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert!(by == id("-un") || by == format!("uid {}", id("-u")), "{by}");
}
