//! Records that are removed, by hand and by themselves.

use super::*;
use crate::event::now_us;
use std::sync::atomic::AtomicU64;

#[tokio::test]
async fn removed_records_are_recorded_and_the_chain_stays_whole() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let log = EventLog::open(&path).unwrap();
    fill(&log, 20).await;
    log.prune(50).await.unwrap();
    let found = log.reader().await.unwrap().verify(None).unwrap();
    assert_eq!((found.problems, found.first), (vec![], 51));
    assert_eq!((found.head.seq, found.is_tail_checked), (81, false));
    drop(log);
    fill(&EventLog::open(&path).unwrap(), 1).await;
    assert_eq!(problems(&path), [""; 0]);
}

#[tokio::test]
async fn a_jsonl_log_removes_no_records_and_says_so() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl");
    let age = EventLog::builder().keep_for(Duration::from_secs(7 * 86_400));
    for builder in [EventLog::builder().keep_records(40), age] {
        let error = builder.open(&path).unwrap_err().to_string();
        assert!(error.contains("no records are removed from the JSONL log `"), "{error}");
        assert!(error.ends_with("use a SQLite file for `keep_records` and `keep_for`"), "{error}");
    }
    let log = EventLog::open(&path).unwrap();
    fill(&log, 1).await;
    let error = log.prune(2).await.unwrap_err();
    assert_eq!(error.to_string(), "this log does not remove records");
}

#[tokio::test]
async fn a_backend_that_cannot_remove_records_says_so() {
    let backend = Faulty(crate::memory::MemoryLog::default(), Arc::default());
    let log = EventLog::builder().backend(backend).unwrap();
    fill(&log, 1).await;
    let error = log.prune(2).await.unwrap_err();
    assert_eq!(error.to_string(), "this log does not remove records");
}

#[tokio::test]
async fn old_records_go_by_themselves() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let log = EventLog::builder().keep_records(40).open(&path).unwrap();
    for _ in 0..30 {
        fill(&log, 1).await;
    }
    let found = log.reader().await.unwrap().verify(None).unwrap();
    assert!(found.is_intact() && found.records < 70, "{found:?}");
}

#[tokio::test]
async fn records_go_by_age() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let days = Arc::new(AtomicU64::new(0));
    let clock = {
        let days = Arc::clone(&days);
        move || now_us() + days.load(Order::Relaxed) * 86_400_000_000
    };
    let builder = EventLog::builder().keep_for(Duration::from_secs(7 * 86_400));
    let log = builder.clock(clock).open(&path).unwrap();
    let first = async || {
        log.flush().await.unwrap();
        let found = log.reader().await.unwrap().verify(None).unwrap();
        assert_eq!(found.problems, []);
        found.first
    };
    fill(&log, 10).await;
    days.store(6, Order::Relaxed);
    fill(&log, 1).await;
    assert_eq!(first().await, 1);
    days.store(8, Order::Relaxed);
    fill(&log, 1).await;
    let kept = first().await;
    assert!(kept > 30, "{kept}");
    // The age is not looked at again within a part of it.
    fill(&log, 10).await;
    assert_eq!(first().await, kept);
}

/// Else the head that is kept elsewhere would be that of a removed record.
#[tokio::test]
async fn the_head_is_announced_after_records_were_removed() {
    let folder = Folder::new();
    let (sender, heads) = std::sync::mpsc::channel();
    let builder = EventLog::builder().on_head(move |head| sender.send(head.clone()).unwrap());
    let log = builder.open(folder.file("a.db")).unwrap();
    fill(&log, 2).await;
    fill(&log, 2).await;
    log.prune(8).await.unwrap();
    let found = log.reader().await.unwrap().verify(None).unwrap();
    assert!(found.first > 1);
    assert_eq!(heads.try_iter().last(), Some(found.head));
    assert_eq!(log.status().written, 17);
    let records = records(&log).await;
    let (before, last) = (&records[records.len() - 2], records.last().unwrap());
    assert_eq!((last.kind, &last.process), (RecordKind::Pruned, &before.process));
    assert!(last.time_us >= before.time_us);
}
