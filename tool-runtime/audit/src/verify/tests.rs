//! Properties: any change of a log is found. The cases by name are in `attacks`.

use super::*;
use crate::testing::{Folder, fill, pool};
use crate::{EventLog, LogReader};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime_core::tool::{Execution, ToolCall};

/// A log of five calls, one of them a step: 20 records.
async fn written(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.file(name);
    let log = EventLog::open(&path).unwrap();
    let pool = pool(&log);
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    pool.call_with(ToolCall::new("echo", "{}"), &context).await;
    for _ in 0..4 {
        fill(&log, 1).await;
    }
    path
}

/// The records as readers get them.
fn rows(path: &Path) -> Result<Vec<LogLine>, crate::LogError> {
    use crate::LogRead as _;
    crate::sqlite::SqliteReader::open(path)?.read(0, 1000)
}

/// A damaged tree gives records in another order, or again and again. Reading and `verify` end.
#[tokio::test]
async fn numbers_in_another_order_are_found() {
    let folder = Folder::new();
    let path = written(&folder, "a.db").await;
    let bytes = fs::read(&path).unwrap();
    let mut orders = 0;
    // A number of a record is 7 bits in each byte, of which all but the last one have the top bit.
    for position in (0..bytes.len()).filter(|position| bytes[*position] == 16) {
        let mut changed = bytes.clone();
        changed[position] = 0xac;
        fs::write(&path, &changed).unwrap();
        let Ok(reader) = LogReader::open(&path) else { continue };
        let ends = reader.records().take(1000).any(|record| record.is_err());
        let problems = LogReader::open(&path).unwrap().verify(None).map(|found| found.problems);
        let text = format!("{problems:?}");
        if text.contains("record 17 follows record") {
            assert!(ends, "byte {position}");
            orders += 1;
        }
    }
    assert_eq!(orders, 1, "one byte is the number of record 16");
}

type SqlRow = (i64, String, String, rusqlite::types::Value, rusqlite::types::Value);

fn sql_rows(connection: &rusqlite::Connection) -> Vec<SqlRow> {
    let mut rows = connection
        .prepare("SELECT seq, hash, CAST(text AS TEXT), run, step FROM records ORDER BY seq")
        .unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let hash = row.get::<_, String>(1).unwrap_or_default();
        Ok((row.get(0)?, hash, row.get(2).unwrap_or_default(), row.get(3)?, row.get(4)?))
    };
    rows.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

proptest! {
    #![proptest_config(crate::property::cases(200))]

    /// Any byte of a JSONL log, to any other value, but for the end of the last line, after which a reader
    /// waits for more.
    #[test]
    fn a_change_of_any_byte_is_found(position in 0.0..1.0_f64, change in 1..=255_u8) {
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
            let position = (position * bytes.len() as f64) as usize;
            changed[position] ^= change;
            fs::write(path, &changed).unwrap();
            let verify = |head| LogReader::open(path).unwrap().verify(head).unwrap();
            let found = match position + 1 == bytes.len() {
                true => verify(Some(&known)),
                false => verify(None),
            };
            prop_assert!(!found.is_intact(), "byte {position}");
            Ok(())
        })?;
    }

    /// Any byte of a SQLite file, to any other value: it is found, or all records are as they were.
    #[test]
    fn a_change_of_any_byte_of_a_database_is_found_or_changes_no_record(position in 0.0..1.0_f64, change in 1..=255_u8) {
        thread_local! {
            static LOG: (Folder, PathBuf, Vec<u8>, Vec<LogLine>) = {
                let folder = Folder::new();
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let path = runtime.block_on(written(&folder, "a.db"));
                let bytes = fs::read(&path).unwrap();
                let lines = rows(&path).unwrap();
                (folder, path, bytes, lines)
            };
        }
        LOG.with(|(_, path, bytes, lines)| {
            let mut changed = bytes.clone();
            let position = (position * bytes.len() as f64) as usize;
            changed[position] ^= change;
            fs::write(path, &changed).unwrap();
            let found = LogReader::open(path).and_then(|reader| reader.verify(None));
            if found.is_ok_and(|found| found.is_intact()) {
                prop_assert_eq!(&rows(path).unwrap(), lines, "byte {}", position);
            }
            Ok(())
        })?;
    }

    /// Any part of any record in SQLite.
    #[test]
    fn a_change_of_any_column_is_found(
        seq in 1..=20_i64,
        column in prop::sample::select(vec!["seq", "hash", "text", "run", "step"]),
        value in prop_oneof![
            Just("NULL".to_owned()), Just("x''".to_owned()), Just("-1".to_owned()),
            any::<i64>().prop_map(|number| number.to_string()),
            "[a-z0-9]{0,64}".prop_map(|text| format!("'{text}'")),
        ],
    ) {
        thread_local! {
            static LOG: (Folder, PathBuf) = {
                let folder = Folder::new();
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let path = runtime.block_on(written(&folder, "a.db"));
                (folder, path)
            };
        }
        LOG.with(|(_, path)| {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch("BEGIN").unwrap();
            let before = sql_rows(&connection);
            // A value that the column does not take changes nothing.
            let update = format!("UPDATE records SET {column} = {value} WHERE seq = {seq}");
            drop(connection.execute_batch(&update));
            let is_changed = sql_rows(&connection) != before;
            connection.execute_batch("COMMIT").unwrap();
            // The last number may become that of a record that was cut off.
            let head = Head { seq: 20, hash: before[19].1.clone() };
            let found = LogReader::open(path).unwrap().verify(Some(&head)).unwrap();
            prop_assert_eq!(found.is_intact(), !is_changed, "{}", update);
            connection.execute_batch("DELETE FROM records").unwrap();
            for row in before {
                let insert = "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5)";
                connection.execute(insert, row).unwrap();
            }
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
        for (index, record) in records.iter().enumerate() {
            prop_assert_eq!(record.seq, index as u64 + 1);
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
