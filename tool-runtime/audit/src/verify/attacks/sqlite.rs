//! Attacks on SQLite files.

use super::{Attack, CUT, EMPTY, Log, OTHER_HEAD, both, by_head, found, run, write_calls};
use crate::chain::{Head, hash};
use crate::{EventLog, LogRecord};
use rusqlite::Connection;
use std::fs;

impl Log {
    fn execute(&self, statements: &str) {
        Connection::open(&self.path).unwrap().execute_batch(statements).unwrap();
    }

    /// Runs statements with the other log attached as `other`.
    fn execute_with_other(&self, statements: &str) {
        let attach = format!("ATTACH '{}' AS other;", self.other.display());
        self.execute(&(attach + statements));
    }

    fn text(&self, seq: i64) -> String {
        let query = "SELECT text FROM records WHERE seq = ?1";
        Connection::open(&self.path).unwrap().query_row(query, [seq], |row| row.get(0)).unwrap()
    }

    fn set_text(&self, seq: i64, text: &str) {
        let update = "UPDATE records SET text = ?2, hash = ?3 WHERE seq = ?1";
        let connection = Connection::open(&self.path).unwrap();
        connection.execute(update, (seq, text, hash(text))).unwrap();
    }

    /// Replaces a string within a record, and makes a new hash.
    fn forge_row(&self, seq: i64, from: &str, to: &str) {
        self.set_text(seq, &self.text(seq).replacen(from, to, 1));
    }

    /// Makes all hashes anew.
    fn chain_rows_again(&self) {
        let mut prev = Head::empty().hash;
        for seq in 1..=20 {
            let mut record: LogRecord = serde_json::from_str(&self.text(seq)).unwrap();
            record.prev = std::mem::take(&mut prev);
            let text = serde_json::to_string(&record).unwrap();
            self.set_text(seq, &text);
            prev = hash(&text);
        }
    }

    /// Changes the byte after each occurrence of a string, also in pages that are not used any more.
    fn damage(&self, text: &[u8]) {
        let mut bytes = fs::read(&self.path).unwrap();
        let positions = 0..bytes.len() - text.len();
        for at in positions.filter(|at| bytes[*at..].starts_with(text)).collect::<Vec<_>>() {
            bytes[at + text.len()] ^= 1;
        }
        fs::write(&self.path, bytes).unwrap();
    }
}

fn edits() -> Vec<Attack> {
    vec![
        found("a string", "record 3 was changed", |log| {
            log.execute("UPDATE records SET text = replace(text, 'echo', 'send') WHERE seq = 3");
        }),
        found("a space", "record 3 was changed", |log| {
            log.execute("UPDATE records SET text = text || ' ' WHERE seq = 3");
        }),
        found("a zero byte", "record 3 was changed", |log| {
            log.execute("UPDATE records SET text = text || char(0) WHERE seq = 3");
        }),
        found("an escaped character", "record 5 was changed", |log| {
            log.execute("UPDATE records SET text = replace(text, 'é', '\\u00e9') WHERE seq = 5");
        }),
        found("a string that is not UTF-8", "record 5 was changed", |log| {
            log.execute("UPDATE records SET text = CAST(replace(CAST(text AS BLOB), x'efbfbd', x'ff') AS TEXT) WHERE seq = 5");
        }),
        found("the text as bytes", "record 3 was changed", |log| {
            log.execute("UPDATE records SET text = CAST(text AS BLOB) WHERE seq = 3");
        }),
        found("the text as a number", "record 20 was changed; record 20 has..", |log| {
            log.execute("UPDATE records SET text = 7, hash = 7 WHERE seq = 20");
        })
        .without_head("record 20 was changed"),
        found("the hash in capitals", "record 3 was changed", |log| {
            log.execute("UPDATE records SET hash = upper(hash) WHERE seq = 3");
        }),
        found("the hash as bytes", "record 3 was changed", |log| {
            log.execute("UPDATE records SET hash = CAST(hash AS BLOB) WHERE seq = 3");
        }),
        found("the run", "record 2 was changed", |log| {
            log.execute("UPDATE records SET run = 'two' WHERE seq = 2");
        }),
        found("the step removed", "record 3 was changed", |log| {
            log.execute("UPDATE records SET step = NULL WHERE seq = 3");
        }),
        found("the step of another record", "record 7 was changed", |log| {
            log.execute(
                "UPDATE records SET step = (SELECT step FROM records WHERE seq = 1) WHERE seq = 7",
            );
        }),
        found("a step as bytes", "record 7 was changed", |log| {
            log.execute("UPDATE records SET step = x'00' WHERE seq = 7");
        }),
        found("a run as bytes", "record 7 was changed", |log| {
            log.execute("UPDATE records SET run = x'' WHERE seq = 7");
        }),
        found("an empty run", "record 7 was changed", |log| {
            log.execute("UPDATE records SET run = '' WHERE seq = 7");
        }),
        found("a record with a new hash", REPLACED_7, |log| log.forge_row(7, "echo", "send")),
        found("a key twice, the hash new", "record 7 was changed", |log| {
            log.forge_row(7, "\"kind\"", "\"kind\":\"denied\",\"kind\"");
        }),
        found("the number, with a new hash", "record 8 is at the position of record 7", |log| {
            log.forge_row(7, "\"seq\":7", "\"seq\":8");
        }),
        by_head("the last record, with a new hash", OTHER_HEAD, |log| {
            log.forge_row(20, "succeeded", "failed");
        }),
        by_head("a record, and all hashes after it", OTHER_HEAD, |log| {
            log.forge_row(5, "echo", "send");
            log.chain_rows_again();
        }),
    ]
}

const REPLACED_7: &str = "record 7 was replaced: the next record has another hash of it";

impl Attack {
    fn without_head(mut self, found: &'static str) -> Self {
        self.found[0] = found;
        self
    }
}

fn rows() -> Vec<Attack> {
    vec![
        found("a row removed", "record 9 is missing", |log| {
            log.execute("DELETE FROM records WHERE seq = 9");
        }),
        found("rows removed", "records 5 to 7 are missing; record 12 is missing", |log| {
            log.execute("DELETE FROM records WHERE seq BETWEEN 5 AND 7 OR seq = 12");
        }),
        found("the first rows removed", "records 1 to 4 are missing", |log| {
            log.execute("DELETE FROM records WHERE seq <= 4");
        }),
        found(
            "the first rows removed, the rest renumbered",
            "record 5 is at the position of record 1..",
            |log| {
                log.execute("DELETE FROM records WHERE seq <= 4; UPDATE records SET seq = seq - 4");
            },
        ),
        by_head("the last rows removed", CUT, |log| {
            log.execute("DELETE FROM records WHERE seq > 16");
        }),
        both(
            "all rows removed",
            [EMPTY, "the end was cut: the last record is 0, and record 20 was written"],
            |log| {
                log.execute("DELETE FROM records");
            },
        ),
        found(
            "two rows swapped",
            "record 6 is at the position of record 5; record 5 is at the position of record 6",
            |log| {
                log.execute("UPDATE records SET seq = 100 WHERE seq = 5; UPDATE records SET seq = 5 WHERE seq = 6; UPDATE records SET seq = 6 WHERE seq = 100");
            },
        ),
        both(
            "the last row moved away",
            [
                "record 20 is at the position of record 30; records 20 to 29 are missing",
                "record 20 is at the position of record 30; records 20 to 29 are missing; record 20 has..",
            ],
            |log| {
                log.execute("UPDATE records SET seq = 30 WHERE seq = 20");
            },
        ),
        found("a copy at the end", "record 4 is at the position of record 21", |log| {
            log.execute(
                "INSERT INTO records SELECT 21, hash, text, run, step FROM records WHERE seq = 4",
            );
        }),
        found("a copy before the beginning", "rows before the first record: 1", |log| {
            log.execute(
                "INSERT INTO records SELECT -5, hash, text, run, step FROM records WHERE seq = 4",
            );
        }),
        found("a copy at the number 0", "rows before the first record: 1", |log| {
            log.execute(
                "INSERT INTO records SELECT 0, hash, text, run, step FROM records WHERE seq = 4",
            );
        }),
        found(
            "a copy at the largest number",
            "record 4 is at the position of record 9223372036854775807; records 21 to 9223372036854775806 are missing",
            |log| {
                log.execute("INSERT INTO records SELECT 9223372036854775807, hash, text, run, step FROM records WHERE seq = 4");
            },
        ),
        found(
            "rows of another log",
            "record 8 was replaced: the next record has another hash of it; record 12 was replaced: the next record has another hash of it",
            |log| {
                log.execute_with_other(
                    "REPLACE INTO records SELECT * FROM other.records WHERE seq BETWEEN 9 AND 12",
                );
            },
        ),
        found("another log at the end", "record 1 is at the position of record 21..", |log| {
            log.execute_with_other(
                "INSERT INTO records SELECT seq + 20, hash, text, run, step FROM other.records",
            );
        }),
        by_head("another log", OTHER_HEAD, |log| {
            log.execute_with_other("REPLACE INTO records SELECT * FROM other.records");
        }),
        by_head("the file of another log", OTHER_HEAD, |log| {
            fs::copy(&log.other, &log.path).unwrap();
        }),
    ]
}

fn schemas() -> Vec<Attack> {
    vec![
        found("a view instead of the table", "the index `records_run` is not..", |log| {
            log.execute(
                "ALTER TABLE records RENAME TO rows; CREATE VIEW records AS SELECT * FROM rows",
            );
        }),
        found(
            "a table without a key, and a row twice",
            "the index `records_run` is not as the log creates it..",
            |log| {
                log.execute("CREATE TABLE copy AS SELECT * FROM records; DROP TABLE records; CREATE TABLE records (seq, hash, text, run, step); INSERT INTO records SELECT * FROM copy; INSERT INTO records SELECT * FROM copy WHERE seq = 20; DROP TABLE copy");
            },
        ),
        found(
            "a trigger that hides later records",
            "the trigger `hide` is not as the log creates it",
            |log| {
                log.execute("CREATE TRIGGER hide AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = new.seq; END");
            },
        ),
        found("another table", "the table `more` is not as the log creates it", |log| {
            log.execute("CREATE TABLE more (a)");
        }),
        found("another column", "the table `records` is not as the log creates it", |log| {
            log.execute("ALTER TABLE records ADD COLUMN more TEXT");
        }),
        found("an index removed", "the index `records_step` is not as the log creates it", |log| {
            log.execute("DROP INDEX records_step");
        }),
        found(
            "an index that is unique",
            "the index `records_run` is not as the log creates it",
            |log| {
                log.execute(
                    "DROP INDEX records_run; CREATE UNIQUE INDEX records_run ON records (seq)",
                );
            },
        ),
        found(
            "an index without a row",
            "the file is damaged: row 1 missing from index records_step..",
            |log| {
                log.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'step IS NOT NULL', 'step IS NULL') WHERE name = 'records_step'");
                log.execute("REINDEX records_step");
                log.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'step IS NULL', 'step IS NOT NULL') WHERE name = 'records_step'");
            },
        ),
        found("the table removed", "error", |log| log.execute("DROP TABLE records")),
        found("a newer version", "error", |log| log.execute("PRAGMA user_version = 99")),
        found("an older version", "error", |log| log.execute("PRAGMA user_version = 0")),
        // Its records lack members, and its schema is the same.
        found("a readable version", "", |log| log.execute("PRAGMA user_version = 1")),
        // SQLite's statistics are not a change of the log.
        found("statistics", "", |log| log.execute("ANALYZE")),
    ]
}

fn pages() -> Vec<Attack> {
    vec![
        found("the header", "error", |log| log.damage(b"SQLite form")),
        found("a character of a record", "record 5 was changed", |log| {
            log.damage("text\":\"é\u{fffd}\u{1d11e} 2".as_bytes());
        }),
        found("the schema", "error", |log| log.damage(b"CREATE TABLE rec")),
        found("the file cut in half", "error", |log| {
            let bytes = fs::read(&log.path).unwrap();
            fs::write(&log.path, &bytes[..bytes.len() / 2]).unwrap();
        }),
        found("the file emptied", "error", |log| fs::write(&log.path, "").unwrap()),
        found("a page of zeros", "error", |log| {
            let mut bytes = fs::read(&log.path).unwrap();
            bytes[4096..8192].fill(0);
            fs::write(&log.path, bytes).unwrap();
        }),
        found("the file removed", "error", |log| fs::remove_file(&log.path).unwrap()),
    ]
}

#[tokio::test]
async fn attacks_on_sqlite_files_are_named() {
    let log = Log::written("a.db").await;
    for attacks in [edits(), rows(), schemas(), pages()] {
        run(&log, &attacks);
    }
}

#[tokio::test]
async fn a_write_ahead_log_that_was_removed_is_a_cut_end() {
    let log = Log::written("a.db").await;
    let open = EventLog::open(&log.path).unwrap();
    crate::testing::fill(&open, 1).await;
    let copied = log.copied();
    drop(open);
    fs::remove_file(copied.folder.file("a.db-wal")).unwrap();
    let head = Head { seq: 24, hash: String::new() };
    let cut = "the end was cut: the last record is 20, and record 24 was written";
    assert_eq!((copied.verified(None), copied.verified(Some(&head))), (String::new(), cut.into()));
}

#[tokio::test]
async fn a_log_that_was_cut_and_continued_has_another_head() {
    let log = Log::written("a.db").await;
    log.execute("DELETE FROM records WHERE seq > 16");
    write_calls(&log.path, 2).await;
    assert_eq!(log.verified(None), "");
    assert_eq!(log.verified(Some(log.head())), OTHER_HEAD);
}

/// A row that `verify` does not reach is not used either.
#[tokio::test]
async fn a_forged_step_before_the_first_record_is_not_replayed() {
    use crate::testing::pool;
    use std::sync::Arc;
    use tool_runtime_core::tool::{Execution, ToolCall};
    let log = Log::written("a.db").await;
    log.execute("UPDATE records SET seq = seq - 10 WHERE seq <= 4");
    let pool = pool(&EventLog::open(&log.path).unwrap());
    let context = pool.context().in_execution(&Arc::new(Execution::new("one")));
    let call = ToolCall::json("echo", serde_json::json!({ "text": "é\u{fffd}\u{1d11e} 1" }));
    pool.call_with(call, &context).await;
    drop((pool, context));
    let query =
        "SELECT count(*) FROM records WHERE seq > 20 AND text LIKE '%\"kind\":\"started\"%'";
    let connection = Connection::open(&log.path).unwrap();
    let started: u32 = connection.query_row(query, [], |row| row.get(0)).unwrap();
    assert_eq!(started, 1);
}
