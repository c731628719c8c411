//! Attacks on logs whose retention has removed records: the last record says which.

use super::{Log, write_calls};
use crate::backend::LogRead;
use crate::chain::{Head, LogLine, hash};
use crate::sqlite::SqliteReader;
use crate::{EventLog, LogError, LogProblem, LogReader, LogRecord, RecordKind};
use rusqlite::Connection;

/// Records 9 to 21: the last one says that those up to 8 were removed.
async fn pruned() -> Log {
    let log = Log::written("a.db").await;
    EventLog::open(&log.path).unwrap().prune(8).await.unwrap();
    log
}

fn execute(log: &Log, statements: &str) {
    let attach = format!("ATTACH '{}' AS other;", log.other.display());
    Connection::open(&log.path).unwrap().execute_batch(&(attach + statements)).unwrap();
}

#[tokio::test]
async fn records_that_were_removed_by_others_are_named() {
    for (statements, expected) in [
        ("", ""),
        ("DELETE FROM records WHERE seq = 9", "records 1 to 9 are missing"),
        ("DELETE FROM records WHERE seq = 12", "record 12 is missing"),
        ("DELETE FROM records WHERE seq = 21", "records 1 to 8 are missing"),
        (
            "UPDATE records SET text = replace(text, 'through\":8', 'through\":9') WHERE seq = 21",
            "record 21 was changed; records 1 to 8 are missing",
        ),
        // Records of another log, with a gap before the first real one, as a reader sees it while records
        // are removed.
        (
            "INSERT INTO records SELECT * FROM other.records WHERE seq <= 4",
            "records 5 to 8 are missing",
        ),
        (
            "INSERT INTO records SELECT * FROM other.records WHERE seq BETWEEN 5 AND 7",
            "record 8 is missing",
        ),
        (
            "INSERT INTO records SELECT * FROM other.records WHERE seq BETWEEN 5 AND 8",
            "record 8 was replaced: the next record has another hash of it",
        ),
        ("UPDATE records SET text = 'x' WHERE seq = 9", "record 9 was changed"),
    ] {
        let log = pruned().await;
        execute(&log, statements);
        assert_eq!(log.verified(None), expected, "{statements}");
    }
}

/// The head that was kept is one of the removed records.
#[tokio::test]
async fn a_head_that_was_removed_is_compared_with_the_record_about_it() {
    let log = pruned().await;
    let verify = |head: &Head| LogReader::open(&log.path).unwrap().verify(Some(head)).unwrap();
    let found = verify(&log.heads[1]);
    assert_eq!((found.problems, found.is_tail_checked), (vec![], true));
    let other = Head { seq: 8, hash: "0".repeat(64) };
    assert_eq!(verify(&other).problems, [LogProblem::OtherHead { head: 8 }]);
    let found = verify(&log.heads[0]);
    assert_eq!(
        (found.problems, found.is_tail_checked),
        (vec![], false),
        "nothing tells of record 4"
    );
}

#[tokio::test]
async fn a_record_about_removed_records_with_another_hash_proves_nothing() {
    let log = pruned().await;
    let connection = Connection::open(&log.path).unwrap();
    let query = "SELECT text FROM records WHERE seq = 21";
    let text: String = connection.query_row(query, [], |row| row.get(0)).unwrap();
    let mut record: LogRecord = serde_json::from_str(&text).unwrap();
    record.through_hash = Some("0".repeat(64));
    let text = serde_json::to_string(&record).unwrap();
    let update = "UPDATE records SET text = ?1, hash = ?2 WHERE seq = 21";
    connection.execute(update, [&text, &hash(&text)]).unwrap();
    assert_eq!(log.verified(None), "records 1 to 8 are missing");
}

/// The retention keeps the last record before its own, so that the hash of a removed one alone proves nothing.
#[tokio::test]
async fn a_record_about_all_removed_records_proves_nothing() {
    let log = Log::written("a.db").await;
    let Head { seq, hash: last } = log.head().clone();
    let mut record = LogRecord { kind: RecordKind::Pruned, ..LogRecord::default() };
    (record.through, record.through_hash) = (Some(seq), Some(last.clone()));
    let line = LogLine::chained(&mut record, &mut Head { seq, hash: last });
    let connection = Connection::open(&log.path).unwrap();
    let insert = "INSERT INTO records (seq, hash, text) VALUES (21, ?1, ?2)";
    connection.execute(insert, [&line.hash, &line.text]).unwrap();
    connection.execute("DELETE FROM records WHERE seq < 21", []).unwrap();
    for head in [None, Some(log.head())] {
        assert_eq!(log.verified(head), "records 1 to 20 are missing");
    }
}

#[tokio::test]
async fn the_retention_may_keep_one_record_beside_its_own() {
    let log = Log::written("a.db").await;
    EventLog::open(&log.path).unwrap().prune(u64::MAX).await.unwrap();
    let found = LogReader::open(&log.path).unwrap().verify(None).unwrap();
    assert_eq!((found.problems, found.records), (vec![], 2));
}

/// A writer of the log can append a record about removed ones: it proves nothing about records up to
/// the head that was kept before.
#[tokio::test]
async fn a_removal_after_the_known_head_is_not_proven() {
    let log = Log::written("a.db").await;
    let verify = |head: Option<&Head>| LogReader::open(&log.path).unwrap().verify(head).unwrap();
    EventLog::open(&log.path).unwrap().prune(16).await.unwrap();
    let found = verify(Some(log.head()));
    assert_eq!((found.problems, found.unproven_removal), (vec![], Some(16)));
    let later = verify(Some(&verify(None).head));
    assert_eq!((later.problems, later.unproven_removal), (vec![], None));
}

/// Removes records after the first read.
struct Pruning {
    reader: Box<dyn LogRead>,
    log: Option<EventLog>,
}

impl LogRead for Pruning {
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError> {
        let lines = self.reader.read(after, limit);
        if let Some(log) = self.log.take() {
            let runtime = tokio::runtime::Handle::current();
            tokio::task::block_in_place(|| runtime.block_on(log.prune(560))).unwrap();
        }
        lines
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn records_may_be_removed_while_they_are_read() {
    let log = Log::written("a.db").await;
    write_calls(&log.path, 140).await;
    let writer = EventLog::open(&log.path).unwrap();
    let reader: Box<dyn LogRead> = Box::new(SqliteReader::open(&log.path).unwrap());
    let reader = LogReader::new(Box::new(Pruning { reader, log: Some(writer.clone()) }));
    let found = reader.verify(None).unwrap();
    assert_eq!((found.problems, found.head.seq), (vec![], 581));
    let gone = LogReader::open(&log.path).unwrap().verify(None).unwrap();
    assert_eq!((gone.problems, gone.first), (vec![], 561));
}
