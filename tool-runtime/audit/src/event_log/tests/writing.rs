//! When records are written, and where.

use super::*;
use crate::LogProblem;

#[tokio::test]
async fn logs_in_files_continue_when_they_are_opened_again() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        for times in 1..=3 {
            let log = EventLog::open(&path).unwrap();
            fill(&log, 2).await;
            assert_eq!(records(&log).await.len(), 8 * times);
        }
        assert_eq!(problems(&path), [""; 0]);
    }
}

#[tokio::test]
async fn nothing_is_lost_when_the_last_handle_is_dropped() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let log = EventLog::builder().write_every(Duration::from_secs(3600)).open(&path).unwrap();
    let pool = pool(&log);
    drop(log);
    for _ in 0..100 {
        pool.call(ToolCall::new("echo", "{}")).await;
    }
    drop(pool);
    assert_eq!(LogReader::open(&path).unwrap().records().count(), 400);
}

#[tokio::test]
async fn several_logs_share_a_sqlite_file_and_a_jsonl_file_has_one() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let (one, other) = (EventLog::open(&path).unwrap(), EventLog::open(&path).unwrap());
    tokio::join!(fill(&one, 50), fill(&other, 50));
    fill(&one, 1).await;
    assert_eq!(LogReader::open(&path).unwrap().records().count(), 404);
    assert_eq!(problems(&path), [""; 0]);
    let early = EventLog::open(folder.file("a.jsonl")).unwrap();
    let first = EventLog::open(folder.file("a.jsonl")).unwrap();
    let _pool = pool(&first);
    let error = EventLog::open(folder.file("a.jsonl")).unwrap_err();
    assert_eq!(error.kind(), LogErrorKind::Busy);
    let error = ToolPool::builder().allow_empty().install(early).build().unwrap_err().to_string();
    assert!(error.contains("a.jsonl` is written by another process"), "{error}");
}

/// A call was told that none of the half line is durable.
#[tokio::test]
async fn a_half_line_at_the_end_is_removed_and_another_text_is_refused() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl");
    let append = |text: &str| {
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    fill(&EventLog::open(&path).unwrap(), 1).await;
    append(r#"{"hash":"#);
    fill(&EventLog::open(&path).unwrap(), 1).await;
    assert_eq!(problems(&path), [""; 0]);
    append("x\n");
    let error = EventLog::open(&path).unwrap_err();
    assert_eq!(error.kind(), LogErrorKind::Damaged);
    assert!(error.to_string().contains("a.jsonl` is not a record: check it"), "{error}");
}

/// Transactions of any size would not stay in the caches of the processor.
#[tokio::test]
async fn many_events_are_several_transactions() {
    let (sender, heads) = std::sync::mpsc::channel();
    let builder = EventLog::builder().write_every(Duration::from_secs(3600));
    let log = builder.on_head(move |head| sender.send(head.seq).unwrap()).memory().unwrap();
    fill(&log, 600).await;
    let transactions: Vec<u64> = heads.try_iter().collect();
    assert_eq!(transactions, [2048, 2400]);
}

#[tokio::test]
async fn the_end_of_a_call_is_durable_before_its_answer_if_asked_for() {
    let folder = Folder::new();
    for (name, is_durable) in [("a.db", true), ("b.db", false)] {
        let builder = EventLog::builder().write_every(Duration::from_secs(3600));
        let builder = if is_durable { builder.durable() } else { builder };
        let log = builder.open(folder.file(name)).unwrap();
        pool(&log).call(ToolCall::new("send", "{}")).await;
        let records = LogReader::open(folder.file(name)).unwrap().records().count();
        assert_eq!(records, if is_durable { 4 } else { 3 });
    }
}

#[tokio::test]
async fn a_head_that_is_kept_elsewhere_shows_that_the_end_was_cut() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (path, head) = (folder.file("a.db"), elsewhere.file("head"));
    let log = EventLog::builder().head_file(&head).open(&path).unwrap();
    fill(&log, 3).await;
    drop(log);
    let head = crate::head_file::read(&head).unwrap();
    assert_eq!(head.seq, 12);
    let verify = || LogReader::open(&path).unwrap().verify(Some(&head)).unwrap().problems;
    assert_eq!(verify(), []);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("DELETE FROM records WHERE seq > 10", []).unwrap();
    assert_eq!(verify(), [LogProblem::TailCut { last: 10, head: 12 }]);
    assert_eq!(problems(&path), [""; 0], "the rest of the chain is whole");
    let beside = EventLog::builder().head_file(folder.file("head")).open(&path).unwrap_err();
    assert!(beside.to_string().contains("in the folder of the log"), "{beside}");
}
