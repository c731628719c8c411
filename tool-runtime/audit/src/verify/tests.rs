//! Every change of a log is found and named.

use super::*;
use crate::testing::{Folder, fill, pool, problems};
use crate::{EventLog, LogReader};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime_core::{Execution, ToolCall};

/// A log of five calls, one of them a step: 20 records.
async fn written(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.file(name);
    let log = EventLog::builder().rotate_at(1500).open(&path).unwrap();
    let pool = pool(&log);
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    pool.call_with(ToolCall::new("echo", "{}"), &context).await;
    for _ in 0..4 {
        fill(&log, 1).await;
    }
    path
}

fn execute(path: &Path, statements: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[tokio::test]
async fn changes_in_sqlite_are_named() {
    for (statements, expected) in [
        (
            "UPDATE records SET text = replace(text, 'echo', 'send') WHERE seq = 3",
            "record 3 was changed",
        ),
        (
            "UPDATE records SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE seq = 3",
            "record 3 was changed",
        ),
        ("UPDATE records SET run = 'two' WHERE seq = 2", "record 2 was changed"),
        ("UPDATE records SET step = NULL WHERE seq = 3", "record 3 was changed"),
        ("UPDATE records SET text = 7 WHERE seq = 20", "record 20 was changed"),
        ("DELETE FROM records WHERE seq = 9", "record 9 is missing"),
        ("DELETE FROM records WHERE seq BETWEEN 5 AND 7", "records 5 to 7 are missing"),
        ("DELETE FROM records WHERE seq <= 4", "records 1 to 4 are missing"),
        (
            "UPDATE records SET seq = 100 WHERE seq = 5; UPDATE records SET seq = 5 WHERE seq = 6; UPDATE records SET seq = 6 WHERE seq = 100",
            "record 6 is in the place of record 5\nrecord 5 is in the place of record 6",
        ),
        (
            "UPDATE records SET text = (SELECT text FROM records WHERE seq = 4), hash = (SELECT hash FROM records WHERE seq = 4), run = 'one', step = (SELECT step FROM records WHERE seq = 4) WHERE seq = 8",
            "record 4 is in the place of record 8",
        ),
    ] {
        let folder = Folder::new();
        let path = written(&folder, "a.db").await;
        assert_eq!(problems(&path), [""; 0]);
        execute(&path, statements);
        assert_eq!(problems(&path).join("\n"), expected, "{statements}");
    }
}

#[tokio::test]
async fn a_record_with_a_new_hash_is_found_by_the_next_one() {
    let folder = Folder::new();
    let path = written(&folder, "a.db").await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    let query = "SELECT text FROM records WHERE seq = 7";
    let text: String = connection.query_row(query, [], |row| row.get(0)).unwrap();
    let text = text.replace("echo", "send");
    let update = "UPDATE records SET text = ?1, hash = ?2 WHERE seq = 7";
    connection.execute(update, [&text, &hash(&text)]).unwrap();
    let found = problems(&path);
    assert_eq!(found, ["record 7 was replaced: the next record has another hash of it"]);
}

#[tokio::test]
async fn a_log_that_was_written_anew_is_found_by_its_head() {
    let folder = Folder::new();
    let path = written(&folder, "a.db").await;
    let known = LogReader::open(&path).unwrap().verify(None).unwrap().head;
    fs::remove_file(&path).unwrap();
    let path = written(&folder, "a.db").await;
    fill(&EventLog::open(&path).unwrap(), 1).await;
    let found = LogReader::open(&path).unwrap().verify(Some(&known)).unwrap();
    assert_eq!(found.problems, [LogProblem::OtherHead { head: 20 }]);
}

#[tokio::test]
async fn a_removed_or_renamed_file_is_found() {
    for (change, expected) in [("remove", "are missing"), ("swap", "is in the place of record")] {
        let folder = Folder::new();
        let path = written(&folder, "a.jsonl").await;
        let files = crate::jsonl::rotated_files(&path);
        assert!(files.len() >= 2, "{files:?}");
        match change {
            "remove" => fs::remove_file(&files[1]).unwrap(),
            _ => {
                fs::rename(&files[0], folder.file("x")).unwrap();
                fs::rename(&files[1], &files[0]).unwrap();
                fs::rename(folder.file("x"), &files[1]).unwrap();
            }
        }
        let found = problems(&path).join("\n");
        assert!(found.contains(expected), "{found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any byte of a JSONL log, to any other value, but for the end of the last line, after which a reader
    /// waits for more.
    #[test]
    fn a_change_of_any_byte_is_found(place in 0.0..1.0_f64, change in 1..=255_u8) {
        thread_local! {
            static LOG: (Folder, PathBuf, Vec<u8>) = {
                let folder = Folder::new();
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let path = folder.file("a.jsonl");
                runtime.block_on(fill(&EventLog::open(&path).unwrap(), 3));
                let bytes = fs::read(&path).unwrap();
                (folder, path, bytes)
            };
        }
        LOG.with(|(_, path, bytes)| {
            let known = Head { seq: 12, hash: String::new() };
            let mut changed = bytes.clone();
            let place = (place * bytes.len() as f64) as usize;
            changed[place] ^= change;
            fs::write(path, &changed).unwrap();
            let verify = |head| LogReader::open(path).unwrap().verify(head).unwrap();
            let found = match place + 1 == bytes.len() {
                true => verify(Some(&known)),
                false => verify(None),
            };
            prop_assert!(!found.is_intact(), "byte {place}");
            Ok(())
        })?;
    }

    /// Calls in any order and from several tasks: numbers without gaps, and each start has a decision before
    /// it.
    #[test]
    fn numbers_have_no_gaps_and_no_call_starts_undecided(calls in prop::collection::vec((0..4_usize, any::<bool>()), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let records = runtime.block_on(async {
            let log = EventLog::memory();
            let pool = pool(&log);
            let calls = calls.iter().map(|(tool, is_valid)| {
                let arguments = if *is_valid { "{}" } else { "[1" };
                ToolCall::new(["echo", "send", "other", "echo"][*tool], arguments)
            });
            pool.call_all(calls).await;
            crate::testing::records(&log).await
        });
        let mut decided = std::collections::HashSet::new();
        for (place, record) in records.iter().enumerate() {
            prop_assert_eq!(record.seq, place as u64 + 1);
            match record.kind {
                RecordKind::Allowed | RecordKind::Approved => drop(decided.insert(record.call)),
                RecordKind::Started => prop_assert!(decided.contains(&record.call)),
                _ => {}
            }
        }
        let ends = records.iter().filter(|record| record.kind.is_end()).count();
        prop_assert_eq!(ends, calls.len());
    }
}
