//! Records that are removed, by hand and by themselves.

use super::*;
use crate::event::now_us;
use std::sync::atomic::AtomicU64;

#[tokio::test]
async fn removed_records_are_recorded_and_the_chain_stays_whole() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        let log = EventLog::builder().rotate_at(2000).open(&path).unwrap();
        for _ in 0..10 {
            fill(&log, 2).await;
        }
        log.prune(50).await.unwrap();
        let found = log.reader().await.unwrap().verify(None).unwrap();
        assert_eq!(found.problems, [], "{name}");
        assert!(found.first > 1 && found.first <= 51, "{name}: {}", found.first);
        assert_eq!((found.head.seq, found.is_tail_checked), (81, false));
        drop(log);
        let log = EventLog::open(&path).unwrap();
        fill(&log, 1).await;
        assert_eq!(problems(&path), [""; 0]);
    }
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
    for name in ["a.db", "a.jsonl"] {
        let path = folder.file(name);
        let days = Arc::new(AtomicU64::new(0));
        let clock = {
            let days = Arc::clone(&days);
            move || now_us() + days.load(Order::Relaxed) * 86_400_000_000
        };
        let builder = EventLog::builder().rotate_at(2000).keep_for(Duration::from_secs(7 * 86_400));
        let log = builder.clock(clock).open(&path).unwrap();
        let first = async || {
            log.flush().await.unwrap();
            let found = log.reader().await.unwrap().verify(None).unwrap();
            assert_eq!(found.problems, [], "{name}");
            found.first
        };
        fill(&log, 10).await;
        days.store(6, Order::Relaxed);
        fill(&log, 1).await;
        assert_eq!(first().await, 1, "{name}");
        days.store(8, Order::Relaxed);
        fill(&log, 1).await;
        let kept = first().await;
        assert!(kept > 30, "{name}: {kept}");
        // The age is not looked at again within a part of it.
        fill(&log, 10).await;
        assert_eq!(first().await, kept, "{name}");
    }
}

/// Else the head that is kept elsewhere would be that of a removed record.
#[tokio::test]
async fn the_head_is_announced_after_records_were_removed() {
    let folder = Folder::new();
    for name in ["a.db", "a.jsonl"] {
        let (sender, heads) = std::sync::mpsc::channel();
        let builder = EventLog::builder().rotate_at(1);
        let builder = builder.on_head(move |head| sender.send(head.clone()).unwrap());
        let log = builder.open(folder.file(name)).unwrap();
        fill(&log, 2).await;
        fill(&log, 2).await;
        log.prune(8).await.unwrap();
        let found = log.reader().await.unwrap().verify(None).unwrap();
        assert!(found.first > 1, "{name}");
        assert_eq!(heads.try_iter().last(), Some(found.head), "{name}");
        assert_eq!(log.status().written, 17, "{name}");
        let records = records(&log).await;
        let (before, last) = (&records[records.len() - 2], records.last().unwrap());
        assert_eq!((last.kind, &last.process), (RecordKind::Pruned, &before.process));
        assert!(last.time_us >= before.time_us);
    }
}
