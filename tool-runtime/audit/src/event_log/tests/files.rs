//! Files of a log: who may use them, under which names.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn rights(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_rights(path: &Path, rights: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(rights)).unwrap();
}

#[tokio::test]
async fn files_of_a_log_are_for_their_owner_alone() {
    for name in ["a.db", "a.jsonl"] {
        let (folder, elsewhere) = (Folder::new(), Folder::new());
        let head = elsewhere.file("head");
        let log = EventLog::builder().head_file(&head).open(folder.file(name)).unwrap();
        fill(&log, 3).await;
        let names = folder.names();
        assert_eq!(names.len(), if name == "a.db" { 3 } else { 1 }, "with journals: {names:?}");
        for name in names {
            assert_eq!(rights(&folder.file(&name)), 0o600, "{name}");
        }
        assert_eq!(rights(&head), 0o600);
    }
}

#[tokio::test]
async fn rights_that_an_operator_gave_stay() {
    for name in ["a.db", "a.jsonl"] {
        let (folder, elsewhere) = (Folder::new(), Folder::new());
        let (path, head) = (folder.file(name), elsewhere.file("head"));
        let open = || EventLog::builder().head_file(&head).open(&path).unwrap();
        fill(&open(), 1).await;
        set_rights(&path, 0o640);
        set_rights(&head, 0o644);
        let log = open();
        fill(&log, 3).await;
        fill(&log, 3).await;
        assert_eq!((rights(&path), rights(&head)), (0o640, 0o644), "{name}");
    }
}

#[tokio::test]
async fn a_jsonl_file_has_one_writer_under_all_its_names() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl");
    let log = EventLog::open(&path).unwrap();
    fill(&log, 1).await;
    symlink(&path, folder.file("alias.jsonl")).unwrap();
    fs::hard_link(&path, folder.file("hard.jsonl")).unwrap();
    for name in ["alias.jsonl", "hard.jsonl"] {
        let error = EventLog::open(folder.file(name)).unwrap_err();
        assert_eq!(error.kind(), LogErrorKind::Busy, "{name}: {error}");
    }
    fill(&log, 4).await;
    drop(log);
    assert_eq!(problems(&path), [""; 0]);
}

#[tokio::test]
async fn a_symbolic_link_names_the_log_that_it_leads_to() {
    for name in ["a.db", "a.jsonl"] {
        let (folder, links) = (Folder::new(), Folder::new());
        let (path, link) = (folder.file(name), links.file(name));
        symlink(&path, &link).unwrap();
        let log = EventLog::open(&link).unwrap();
        fill(&log, 3).await;
        fill(&log, 3).await;
        assert_eq!((rights(&path), links.names()), (0o600, vec![name.to_owned()]));
        drop(log);
        for name in [&path, &link] {
            let found = LogReader::open(name).unwrap().verify(None).unwrap();
            assert_eq!((found.problems, found.records), (vec![], 24), "{}", name.display());
        }
    }
}

/// SQLite names its journals after the file: two names would have two.
#[tokio::test]
async fn a_sqlite_file_with_a_second_hard_link_is_refused() {
    let folder = Folder::new();
    let (path, hard) = (folder.file("a.db"), folder.file("hard.db"));
    let log = EventLog::open(&path).unwrap();
    fill(&log, 1).await;
    fs::hard_link(&path, &hard).unwrap();
    let error = EventLog::open(&hard).unwrap_err().to_string();
    assert!(error.contains("hard.db` has 2 names (hard links)"), "{error}");
    fs::remove_file(&hard).unwrap();
    EventLog::open(&path).unwrap();
}

#[test]
fn a_log_is_created_when_a_pool_with_it_is_built() {
    for name in ["a.db", "a.jsonl"] {
        let folder = Folder::new();
        let log = EventLog::open(folder.file(name)).unwrap();
        assert_eq!(folder.names(), [""; 0]);
        let _pool = pool(&log);
        assert!(folder.names().contains(&name.to_owned()));
    }
}

#[test]
fn a_pool_is_not_built_with_a_log_that_cannot_be_created() {
    for name in ["a.db", "a.jsonl"] {
        let folder = Folder::new();
        let log = EventLog::open(folder.file(name)).unwrap();
        fs::create_dir(folder.file(name)).unwrap();
        let error = ToolPool::builder().allow_empty().install(log).build().unwrap_err();
        assert!(error.to_string().contains("the recorder of calls: `"), "{error}");
    }
}

#[test]
fn a_log_in_a_folder_that_does_not_exist_says_so() {
    let folder = Folder::new();
    let error = EventLog::open(folder.file("none").join("a.db")).unwrap_err().to_string();
    assert!(error.ends_with("none` first") && error.contains("create the folder"), "{error}");
}

/// Records in a file without a name are lost.
#[tokio::test]
async fn calls_are_refused_while_the_file_is_renamed_or_replaced() {
    for name in ["a.db", "a.jsonl"] {
        let folder = Folder::new();
        let (path, away) = (folder.file(name), folder.file("away"));
        let log = EventLog::open(&path).unwrap();
        let pool = pool(&log);
        pool.call(ToolCall::new("send", "{}")).await;
        fs::rename(&path, &away).unwrap();
        // Also while nobody calls.
        let problem = log.problem().unwrap();
        let expected =
            format!("the log `{}` is open and was removed or renamed: put it back", path.display());
        assert!(problem.contains(&expected), "{problem}");
        // A call that only reads does not wait for its records.
        for tool in ["echo", "send"] {
            let refused = pool.call(ToolCall::new(tool, "{}")).await;
            let error = refused.error().unwrap();
            assert!(error.detail().is_some_and(|text| text.contains(&expected)), "{error:?}");
        }
        fs::write(&path, "").unwrap();
        assert!(log.flush().await.unwrap_err().to_string().contains("` is another file than the"));
        assert_eq!(fs::read(&path).unwrap(), b"");
        fs::rename(&away, &path).unwrap();
        log.flush().await.unwrap();
        assert_eq!(log.problem(), None);
        assert!(pool.call(ToolCall::new("send", "{}")).await.error().is_none());
        log.flush().await.unwrap();
        // The refused calls are recorded.
        let records = records(&log).await;
        assert_eq!(records.iter().filter(|record| record.kind == RecordKind::Proposed).count(), 4);
        assert_eq!(problems(&path), [""; 0]);
    }
}

#[tokio::test]
async fn calls_go_on_while_the_file_is_renamed_if_they_may() {
    let folder = Folder::new();
    let (path, away) = (folder.file("a.db"), folder.file("away"));
    let log = EventLog::builder().on_failure(crate::OnFailure::Continue).open(&path).unwrap();
    let pool = pool(&log);
    fs::rename(&path, &away).unwrap();
    for _ in 0..2 {
        assert!(pool.call(ToolCall::new("send", "{}")).await.error().is_none());
    }
    assert!(log.problem().is_some());
    fs::rename(&away, &path).unwrap();
    log.flush().await.unwrap();
    assert_eq!(records(&log).await.len(), 8);
}
