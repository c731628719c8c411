//! Questions whose process has ended.

use super::*;
use std::path::Path;

fn open(directory: &Path) -> FileStore {
    FileStore::open(directory).unwrap()
}

async fn ask(store: &FileStore, is_repeatable: bool) -> String {
    let asked = PendingApproval { is_repeatable, ..pending() };
    store.open(asked).await.unwrap().request.id
}

#[tokio::test]
async fn an_answer_is_refused_once_the_process_of_the_call_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (gateway, people) = (open(directory.path()), open(directory.path()));
    let id = ask(&gateway, false).await;
    assert!(!people.get(&id).await.unwrap().unwrap().is_abandoned);
    // The system releases the lock of a process that is killed.
    drop(gateway);
    let stored = people.get(&id).await.unwrap().unwrap();
    assert!(stored.is_open() && stored.is_lost(), "{stored:?}");
    for answer in [yes(), ApprovalAnswer::deny(None)] {
        let refused = people.answer(&id, answer).await.unwrap_err();
        assert_eq!(refused, StoreError::Abandoned(id.clone()));
        let text = format!("`{id}`: the call is gone: its process has ended; nothing runs");
        assert_eq!(refused.to_string(), text);
    }
    assert!(!people.get(&id).await.unwrap().unwrap().is_open(), "the question is settled");
}

#[tokio::test]
async fn the_question_of_a_run_that_may_be_repeated_is_answered_without_its_call() {
    let directory = tempfile::tempdir().unwrap();
    let (gateway, people) = (open(directory.path()), open(directory.path()));
    let (first, second) = (ask(&gateway, true).await, ask(&gateway, true).await);
    drop(gateway);
    people.answer(&first, yes()).await.unwrap();
    let stored = people.get(&second).await.unwrap().unwrap();
    assert!(stored.is_abandoned && !stored.is_lost(), "{stored:?}");
    // The next process waits for both.
    let next = open(directory.path());
    let again = |id: &str| PendingApproval { id: id.to_owned(), is_repeatable: true, ..pending() };
    assert_eq!(next.open(again(&first)).await.unwrap().answer, Some(yes()));
    assert!(!next.open(again(&second)).await.unwrap().is_abandoned);
    assert!(!people.get(&second).await.unwrap().unwrap().is_abandoned);
}

#[tokio::test]
async fn a_question_whose_process_is_not_known_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let (gateway, people) = (open(directory.path()), open(directory.path()));
    let waiter = |id: &str| directory.path().join(format!("{id}.waiter"));
    let [without, cleaned, elsewhere] =
        [ask(&gateway, false).await, ask(&gateway, false).await, ask(&gateway, false).await];
    std::fs::remove_file(waiter(&without)).unwrap();
    let named = std::fs::read_to_string(waiter(&elsewhere)).unwrap();
    let (process, _) = named.split_once(' ').unwrap();
    std::fs::write(waiter(&elsewhere), format!("{process} another-machine")).unwrap();
    let ids = [without, elsewhere];
    drop(gateway);
    for id in &ids {
        people.answer(id, yes()).await.unwrap();
    }
    let gone = people.answer(&cleaned, yes()).await.unwrap_err();
    assert_eq!(gone, StoreError::Abandoned(cleaned.clone()));
    // Somebody tidies up.
    let next = ask(&open(directory.path()), false).await;
    let named = std::fs::read_to_string(waiter(&next)).unwrap();
    let (process, _) = named.split_once(' ').unwrap();
    std::fs::remove_file(directory.path().join(format!(".{process}.process"))).unwrap();
    people.answer(&next, yes()).await.unwrap();
}

#[tokio::test]
async fn files_of_processes_that_have_ended_are_removed_and_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let processes = || {
        let names = std::fs::read_dir(directory.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".process")).count()
    };
    let (first, second) = (open(directory.path()), open(directory.path()));
    let lost = ask(&first, false).await;
    let kept = ask(&second, false).await;
    let done = open(directory.path());
    let withdrawn = ask(&done, false).await;
    assert_eq!(processes(), 3);
    done.remove(&withdrawn).await.unwrap();
    drop((first, done));
    let third = open(directory.path());
    ask(&third, false).await;
    // A question names the first.
    assert_eq!(processes(), 3);
    let is_lost = async |id: &str| third.get(id).await.unwrap().unwrap().is_lost();
    assert!(is_lost(&lost).await && !is_lost(&kept).await);
}

#[cfg(feature = "cli")]
#[tokio::test]
async fn the_list_and_the_answer_tell_what_becomes_of_a_call_that_is_gone() {
    use crate::command::tests::run;
    let directory = tempfile::tempdir().unwrap();
    let (gateway, people) = (open(directory.path()), Arc::new(open(directory.path())));
    let (lost, step) = (ask(&gateway, false).await, ask(&gateway, true).await);
    drop(gateway);
    let list = run(&*people, &["list"]).await.unwrap();
    let gone = "  its call is gone: its process has ended; nothing runs\n";
    let counts = "its call is gone, and the answer counts when the run is repeated\n";
    assert!(list.contains(gone) && list.contains(&format!("  {counts}")), "{list}");
    let refused = run(&*people, &["approve", &lost]).await.unwrap_err();
    assert!(
        refused.ends_with("the call is gone: its process has ended; nothing runs"),
        "{refused}"
    );
    let approved = run(&*people, &["approve", &step]).await.unwrap();
    assert_eq!(approved.lines().nth(1), Some(counts.trim_end()), "{approved}");
    let list = run(&*people, &["list"]).await.unwrap();
    assert!(list.starts_with("no open questions"), "{list}");
}
