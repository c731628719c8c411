//! Questions in a store, answered by another task or another process.

use super::super::support::{class, in_time};
use super::{Directory, Removed, builder, remove_call};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::approvals::{
    ApprovalAnswer, ApprovalStore, FileStore, Inbox, MemoryStore, PendingApproval, StoreError,
    StoredApproval,
};
use tool_runtime::govern::{Approval, ApprovalRequest, Approver as _, Decision};
use tool_runtime::prelude::*;
use tool_runtime::{CancellationToken, Principal};

pub(super) fn pool(store: impl ApprovalStore, removed: &Removed) -> ToolPool {
    builder(removed, |decision| decision).approver(Inbox::new(store)).build().unwrap()
}

/// The first open question.
pub(super) async fn question(store: &dyn ApprovalStore) -> StoredApproval {
    in_time(async {
        loop {
            let changed = store.changed();
            let approvals = store.list().await.unwrap();
            if let Some(open) = approvals.into_iter().find(StoredApproval::is_open) {
                return open;
            }
            changed.await;
        }
    })
    .await
}

async fn for_each_store(check: impl AsyncFn(Arc<dyn ApprovalStore>, &str)) {
    check(Arc::new(MemoryStore::new()), "memory").await;
    let directory = Directory::new("each");
    let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
    check(Arc::new(store), "files").await;
}

#[tokio::test]
async fn a_question_waits_for_its_first_answer() {
    for_each_store(async |store, kind| {
        let removed = Removed::default();
        let pool = pool(Arc::clone(&store), &removed);
        let mut edited = ApprovalAnswer::approve().by("grace");
        edited.arguments = Some(r#"{"path":"b","password":"***"}"#.to_owned());
        for (answer, expected) in [
            (ApprovalAnswer::approve().by("grace"), "removed a"),
            (edited, "removed b"),
            (
                ApprovalAnswer::deny("not on a Friday".to_owned()),
                "the call to `remove` was not approved: not on a Friday",
            ),
        ] {
            let person = async {
                let open = question(&*store).await.request;
                assert_eq!(
                    (open.question.as_str(), open.rule.as_deref()),
                    ("Remove it?", Some("removals"))
                );
                assert_eq!(open.arguments, r#"{"path":"a","password":"***"}"#);
                store.answer(&open.id, answer).await.unwrap();
                let again = store.answer(&open.id, ApprovalAnswer::approve()).await;
                assert!(matches!(again, Err(StoreError::Answered { .. })), "{kind}: {again:?}");
            };
            let (result, ()) =
                in_time(async { tokio::join!(pool.call(remove_call("a")), person) }).await;
            assert_eq!(result.observation().to_text(), expected, "{kind}");
        }
        assert_eq!(removed.all(), ["a by hunter2", "b by hunter2"]);
    })
    .await;
}

/// A question like that of a call, under an id of its own.
async fn asked(store: &Arc<dyn ApprovalStore>) -> PendingApproval {
    let pool = pool(Arc::clone(store), &Removed::default());
    let person = async {
        let mut open = question(&**store).await.request;
        store.answer(&open.id, ApprovalAnswer::deny(None)).await.unwrap();
        open.id = open.id.chars().rev().collect();
        open
    };
    in_time(async { tokio::join!(pool.call(remove_call("a")), person) }).await.1
}

#[tokio::test]
async fn a_question_that_has_expired_takes_no_answer() {
    for_each_store(async |store, kind| {
        let mut late = asked(&store).await;
        late.expires_at = late.asked_at - 1;
        store.open(late.clone()).await.unwrap();
        let error = store.answer(&late.id, ApprovalAnswer::approve()).await.unwrap_err();
        assert!(matches!(error, StoreError::Expired(_)), "{kind}: {error}");
    })
    .await;
}

/// The call removes its question as soon as it sees the answer, which is before `answer` returns.
#[tokio::test]
async fn an_answer_that_is_taken_at_once_is_not_refused() {
    for_each_store(async |store, kind| {
        let request = asked(&store).await;
        for round in 0..100 {
            store.open(request.clone()).await.unwrap();
            let take = async {
                while store.get(&request.id).await.unwrap().is_some_and(|stored| stored.is_open()) {
                    tokio::task::yield_now().await;
                }
                store.remove(&request.id).await.unwrap();
            };
            let answer = store.answer(&request.id, ApprovalAnswer::deny(None));
            let (answered, ()) = in_time(async { tokio::join!(answer, take) }).await;
            assert!(answered.is_ok(), "{kind}, round {round}: {answered:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_someone_who_may_not_approve_leaves_the_question_open() {
    for_each_store(async |store, kind| {
        let removed = Removed::default();
        let asking = |decision: Decision| {
            decision.approved_by(tool_runtime::govern::Approvers::people(["grace"]))
        };
        let pool = builder(&removed, asking).approver(Inbox::new(Arc::clone(&store)));
        let pool = pool.build().unwrap().for_principal(Principal::new("ada"));
        let person = async {
            let id = question(&*store).await.request.id;
            for by in ["bob", "ada"] {
                let rejected = store.answer(&id, ApprovalAnswer::approve().by(by)).await;
                assert!(matches!(rejected, Err(StoreError::NotAllowed { .. })), "{kind} {by}");
            }
            store.answer(&id, ApprovalAnswer::approve().by("grace")).await.unwrap();
        };
        let (result, ()) =
            in_time(async { tokio::join!(pool.call(remove_call("a")), person) }).await;
        assert_eq!(result.observation().to_text(), "removed a");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    for_each_store(async |store, kind| {
        let removed = Removed::default();
        let pool = pool(Arc::clone(&store), &removed);
        let token = CancellationToken::new();
        let context = pool.context().with_cancellation(token.clone());
        let cancel = async {
            let id = question(&*store).await.request.id;
            token.cancel();
            id
        };
        let (result, id) =
            in_time(async { tokio::join!(pool.call_with(remove_call("a"), &context), cancel) })
                .await;
        assert_eq!(class(&result), ErrorClass::Cancelled);
        in_time(async {
            while store.get(&id).await.unwrap().is_some() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let late = store.answer(&id, ApprovalAnswer::approve()).await;
        assert_eq!(late, Err(StoreError::Unknown(id)), "{kind}");
        assert!(removed.all().is_empty());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_in_the_inbox_expires() {
    let (removed, store) = (Removed::default(), MemoryStore::new());
    let pool = pool(store.clone(), &removed);
    let start = tokio::time::Instant::now();
    let result = in_time(pool.call(remove_call("a"))).await;
    assert_eq!(class(&result), ErrorClass::ApprovalRejected);
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    assert!((14.9..=15.1).contains(&minutes), "{minutes}");
    assert!(removed.all().is_empty());
}

#[cfg(unix)]
#[test]
fn a_directory_writable_by_others_is_rejected() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = Directory::new("open");
    std::fs::create_dir(&directory.0).unwrap();
    std::fs::set_permissions(&directory.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = FileStore::open(&directory.0).unwrap_err().to_string();
    assert!(error.contains("other users may write"), "{error}");
}

#[tokio::test]
async fn names_of_other_files_are_unknown_ids() {
    let directory = Directory::new("names");
    std::fs::create_dir(&directory.0).unwrap();
    let store = FileStore::open(&directory.0).unwrap();
    std::fs::write(directory.0.join("notes.json"), "{}").unwrap();
    std::fs::write(directory.0.with_extension("json"), "{}").unwrap();
    assert!(store.list().await.unwrap().is_empty());
    for id in ["notes", "../approvals", "", "/etc/passwd"] {
        assert_eq!(store.get(id).await, Ok(None));
        let answer = store.answer(id, ApprovalAnswer::approve()).await;
        assert_eq!(answer, Err(StoreError::Unknown(id.to_owned())));
        store.remove(id).await.unwrap();
    }
    std::fs::remove_file(directory.0.with_extension("json")).unwrap();
}

/// Runs `approvals ..` on the directory, in another process. The exit code, and the text that is printed.
async fn command(directory: &Directory, words: &[&str]) -> (Option<i32>, String) {
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_governed_server"));
    program.arg("approvals").args(words).env("INBOX", &directory.0).kill_on_drop(true);
    let output = in_time(program.output()).await.expect("the program runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8"))
}

#[tokio::test]
async fn an_answer_names_its_person() {
    let store = MemoryStore::new();
    let inbox = Inbox::new(store.clone());
    for answer in [ApprovalAnswer::approve(), ApprovalAnswer::deny("no".to_owned())] {
        let request = ApprovalRequest::new("remove", "{}", "Remove it?");
        let person = async {
            let id = question(&store).await.request.id;
            store.answer(&id, answer.by("grace")).await.unwrap();
        };
        match tokio::join!(inbox.approve(&request), person).0 {
            Approval::Approved { by, .. } | Approval::Rejected { by, .. } => {
                assert_eq!(by.as_deref(), Some("grace"));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_damaged_file_does_not_stop_the_others() {
    let directory = Directory::new("damaged");
    std::fs::create_dir(&directory.0).unwrap();
    let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
    for name in ["json", "remembered.json"] {
        std::fs::write(directory.0.join(format!("{}.{name}", "a".repeat(32))), "{").unwrap();
    }
    let pool = pool(store.clone(), &Removed::default());
    let person = async {
        let id = question(&store).await.request.id;
        let (code, list) = command(&directory, &["list"]).await;
        assert!(code == Some(0) && list.contains(&id[..8]), "{list}");
        assert!(list.contains("aaaa.json` is damaged, remove it"), "{list}");
        let (code, approved) = command(&directory, &["approve", &id]).await;
        assert_eq!(code, Some(0), "{approved}");
    };
    let (result, ()) = in_time(async { tokio::join!(pool.call(remove_call("a")), person) }).await;
    assert_eq!(result.observation().to_text(), "removed a");
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_ends_with_the_server() {
    let (removed, directory) = (Removed::default(), Directory::new("stopped"));
    let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
    let pool = pool(store.clone(), &removed);
    let stop = CancellationToken::new();
    let context = pool.context().with_stop(stop.clone());
    let person = async {
        question(&store).await;
        stop.cancel();
    };
    let call = pool.call_with(remove_call("a"), &context);
    let (result, ()) = in_time(async { tokio::join!(call, person) }).await;
    let text = result.observation().to_text();
    assert!(text.contains("the server stops, so the question was not answered"), "{text}");
    assert!(removed.all().is_empty());
}

#[tokio::test]
async fn commands_list_and_answer() {
    let (removed, directory) = (Removed::default(), Directory::new("commands"));
    let store = FileStore::open(&directory.0).unwrap().poll_interval(Duration::from_millis(5));
    let pool =
        builder(&removed, |decision| decision).approver(Inbox::new(store.clone())).build().unwrap();
    let none = |missing: &str| {
        let path = directory.0.display();
        (Some(0), format!("no open questions in `{path}`{missing}\n"))
    };
    // Nothing is created by a look.
    assert_eq!(command(&directory, &["list"]).await, none(", which does not exist"));
    std::fs::create_dir(&directory.0).unwrap();
    assert_eq!(command(&directory, &["list"]).await, none(""));
    let other = directory.0.join("other");
    let words = ["list", "--dir", other.to_str().expect("UTF-8")];
    let (code, missing) = command(&directory, &words).await;
    assert_eq!(code, Some(2), "{missing}");
    assert!(missing.contains("other` is not a directory") && !other.exists(), "{missing}");
    for (words, expected) in [
        (vec!["approve", "ID"], "removed a"),
        (vec!["approve", "ID", "--args", r#"{"path":"b"}"#], "removed b"),
        (
            vec!["deny", "ID", "--reason", "use the trash"],
            "the call to `remove` was not approved: use the trash",
        ),
    ] {
        let person = async {
            let id = question(&store).await.request.id;
            let (_, list) = command(&directory, &["list"]).await;
            assert!(
                list.starts_with(&format!(
                    "{}  Remove it?\n  remove(path: \"a\", password: ***)\n  who may answer: everyone\n",
                    &id[..8]
                )),
                "{list}"
            );
            let (_, json) = command(&directory, &["list", "--json"]).await;
            assert!(json.contains(&id) && !json.contains("hunter2"), "{json}");
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "ID" { &id[..8] } else { word }).collect();
            let (code, done) = command(&directory, &words).await;
            let expected =
                if words[0] == "approve" { "approved: remove(" } else { "denied: remove(" };
            assert!(code == Some(0) && done.starts_with(expected), "{done}");
            let says_edited = done.contains(r#", with {"path":"b"}"#);
            assert_eq!(says_edited, words.contains(&"--args"), "{done}");
        };
        let (result, ()) =
            in_time(async { tokio::join!(pool.call(remove_call("a")), person) }).await;
        assert_eq!(result.observation().to_text(), expected);
    }
    let (code, unknown) = command(&directory, &["approve", "00"]).await;
    assert_eq!(code, Some(1));
    assert!(unknown.starts_with("error: `00` is not the id of a question"), "{unknown}");
    let (code, wrong) = command(&directory, &["approve", "00", "--args", "[]"]).await;
    assert_eq!(code, Some(2));
    assert!(wrong.starts_with("error: `--args` is not a JSON object"), "{wrong}");
}
