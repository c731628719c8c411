//! Attacks on JSONL files.

use super::{Attack, CUT, EMPTY, LAST, Log, OTHER_HEAD, both, by_head, found, run, write_calls};
use crate::LogRecord;
use crate::chain::{Head, hash};
use std::fs;
use std::path::Path;

/// The lines of the file.
type Lines = Vec<String>;

fn lines(path: &Path) -> Lines {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// The hash and the record of a line.
fn parts(line: &str) -> (&str, &str) {
    let (hash, rest) = line.strip_prefix(r#"{"hash":""#).unwrap().split_at(64);
    (hash, rest.strip_prefix(r#"","record":"#).unwrap().strip_suffix('}').unwrap())
}

/// A line with the hash of its record.
fn hashed(text: &str) -> String {
    format!(r#"{{"hash":"{}","record":{text}}}"#, hash(text))
}

/// The record of a line after another line.
fn chained(line: &str, seq: u64, prev: &str) -> String {
    let mut record: LogRecord = serde_json::from_str(parts(line).1).unwrap();
    (record.seq, record.prev) = (seq, prev.to_owned());
    hashed(&serde_json::to_string(&record).unwrap())
}

impl Log {
    fn change_lines(&self, change: impl FnOnce(&mut Lines)) {
        let mut lines = lines(&self.path);
        change(&mut lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&self.path, text).unwrap();
    }

    /// Changes the line of a record.
    fn change_line(&self, seq: usize, change: impl FnOnce(&str) -> String) {
        self.change_lines(|lines| {
            let line = &mut lines[seq - 1];
            let changed = change(line);
            assert_ne!(*line, changed);
            *line = changed;
        });
    }

    /// Replaces a string within the line of a record.
    fn replace(&self, seq: usize, from: &str, to: &str) {
        self.change_line(seq, |line| line.replacen(from, to, 1));
    }

    /// Replaces a string within a record, and makes a new hash.
    fn forge(&self, seq: usize, from: &str, to: &str) {
        self.change_line(seq, |line| hashed(&parts(line).1.replacen(from, to, 1)));
    }

    /// Makes all hashes anew.
    fn chain_again(&self) {
        self.change_lines(|lines| {
            let mut prev = Head::empty().hash;
            for (seq, line) in (1..).zip(lines) {
                *line = chained(line, seq, &prev);
                prev = parts(line).0.to_owned();
            }
        });
    }

    /// Changes the bytes of the file.
    fn change_bytes(&self, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        fs::write(&self.path, change(fs::read(&self.path).unwrap())).unwrap();
    }
}

fn edits() -> Vec<Attack> {
    vec![
        found("an argument", "record 5 was changed", |log| log.replace(5, " 2\"", " 3\"")),
        found("the tool", "record 5 was changed", |log| log.replace(5, "echo", "send")),
        found("the first record", "record 1 was changed", |log| log.replace(1, "echo", "send")),
        found(
            "the number of the first record, with a new hash",
            "record 2 is at the position of record 18..",
            |log| {
                log.forge(1, "seq\":1", "seq\":17");
            },
        ),
        found(
            "the largest number in the first record, with a new hash",
            "record 18446744073709551615 is at..",
            |log| {
                log.forge(1, "seq\":1", "seq\":18446744073709551615");
            },
        ),
        found("the kind", "record 6 was changed", |log| log.replace(6, "allowed", "denied")),
        found("the time", "record 9 was changed", |log| {
            log.replace(9, "time_us\":", "time_us\":1");
        }),
        found("the number", "record 7 was changed", |log| log.replace(7, "seq\":7", "seq\":8")),
        found("a digit of the hash", "record 7 was changed", |log| {
            log.change_line(7, |line| line.replacen(&line[9..11], "zz", 1));
        }),
        found("the hash in capitals", "record 7 was changed", |log| {
            log.change_line(7, |line| {
                line.replacen(parts(line).0, &parts(line).0.to_uppercase(), 1)
            });
        }),
        found("the hash removed", "record 7 was changed", |log| {
            log.change_line(7, |line| line.replacen(parts(line).0, "", 1));
        }),
        found("the link to the record before", "record 7 was changed", |log| {
            log.change_line(7, |line| line.replacen("prev\":\"", "prev\":\"0", 1));
        }),
        found("a digest of the result", "record 8 was changed", |log| {
            log.change_line(8, |line| line.replacen("sha256\":\"", "sha256\":\"0", 1));
        }),
        found("a record with a new hash", REPLACED_7, |log| log.forge(7, "echo", "send")),
        found("a record of another order of keys, with a new hash", REPLACED_7, |log| {
            log.forge(7, r#","tool":"echo"}"#, "}");
            log.forge(7, "{", r#"{"tool":"echo","#);
        }),
        found("the number, with a new hash", "record 8 is at the position of record 7", |log| {
            log.forge(7, "seq\":7", "seq\":8");
        }),
        by_head("the last record, with a new hash", OTHER_HEAD, |log| {
            log.forge(20, "succeeded", "failed");
        }),
        by_head("a record, and all hashes after it", OTHER_HEAD, |log| {
            log.forge(5, "echo", "send");
            log.chain_again();
        }),
        by_head("two records swapped, and all hashes", OTHER_HEAD, |log| {
            log.change_lines(|lines| lines.swap(5, 6));
            log.chain_again();
        }),
    ]
}

const REPLACED_7: &str = "record 7 was replaced: the next record has another hash of it";

fn spellings() -> Vec<Attack> {
    vec![
        found("a space", "record 6 was changed", |log| log.replace(6, "\"kind\":", "\"kind\": ")),
        found("a space at the end", "record 6 was changed", |log| log.replace(6, "}}", "}} ")),
        found("a space before the record", "record 6 was changed", |log| {
            log.replace(6, "\"record\":", "\"record\": ");
        }),
        found("a carriage return", "record 6 was changed", |log| log.replace(6, "}}", "}}\r")),
        found("a byte order mark", "record 1 was changed", |log| {
            log.change_line(1, |line| format!("\u{feff}{line}"));
        }),
        found(
            "an empty line",
            "record 6 was changed; record 6 is at the position of record 7..",
            |log| {
                log.change_lines(|lines| lines.insert(5, String::new()));
            },
        ),
        found("a key twice, the hash new", "record 6 was changed", |log| {
            log.forge(6, "\"kind\"", "\"kind\":\"denied\",\"kind\"");
        }),
        found("a key twice in the line", "record 6 was changed", |log| {
            log.change_line(6, |line| line.replacen('{', "{\"hash\":\"\",", 1));
        }),
        found("an unknown key, the hash new", "record 6 was changed", |log| {
            log.forge(6, "\"kind\"", "\"kinds\":1,\"kind\"");
        }),
        found("a number as a fraction, the hash new", "record 6 was changed", |log| {
            log.forge(6, "\"seq\":6", "\"seq\":6.0");
        }),
        found("a number too large, the hash new", "record 6 was changed", |log| {
            log.forge(6, "\"seq\":6", "\"seq\":18446744073709551622");
        }),
        found("a decomposed character", "record 5 was changed", |log| {
            log.replace(5, "é", "e\u{301}");
        }),
        found("an escaped character", "record 5 was changed", |log| log.replace(5, "é", "\\u00e9")),
        found("an invisible character", "record 5 was changed", |log| {
            log.replace(5, "echo", "ec\u{200b}ho");
        }),
        found(
            "a replacement character as a byte that is not UTF-8",
            "record 1 was changed",
            |log| {
                log.change_bytes(|bytes| {
                    let at = bytes.windows(3).position(|part| part == [0xef, 0xbf, 0xbd]).unwrap();
                    [&bytes[..at], &[0xff], &bytes[at + 3..]].concat()
                });
            },
        ),
        found("a line of zeros", "record 6 was changed", |log| {
            log.change_line(6, |line| "\0".repeat(line.len()));
        }),
        found("a line that ends early", "record 6 was changed", |log| {
            log.change_line(6, |line| line[..line.len() / 2].to_owned());
        }),
    ]
}

fn moves() -> Vec<Attack> {
    vec![
        found("a line removed", "record 7 is at the position of record 6..", |log| {
            log.change_lines(|lines| drop(lines.remove(5)));
        }),
        found("the first lines removed", "records 1 to 4 are missing", |log| {
            log.change_lines(|lines| drop(lines.drain(..4)));
        }),
        found(
            "the first lines removed, the next record changed",
            "record 1 was changed..",
            |log| {
                log.change_lines(|lines| drop(lines.drain(..4)));
                log.replace(1, "echo", "send");
            },
        ),
        by_head("the last call removed", CUT, |log| {
            log.change_lines(|lines| lines.truncate(16));
        }),
        by_head(
            "the last lines removed",
            "the end was cut: the last record is 18, and record 20 was written",
            |log| log.change_lines(|lines| lines.truncate(18)),
        ),
        both(
            "everything emptied",
            [EMPTY, "the end was cut: the last record is 0, and record 20 was written"],
            |log| fs::write(&log.path, "").unwrap(),
        ),
        found("everything removed", "error", |log| fs::remove_file(&log.path).unwrap()),
        found(
            "two lines swapped",
            "record 7 is at the position of record 6; record 6 is at the position of record 7",
            |log| log.change_lines(|lines| lines.swap(5, 6)),
        ),
        found(
            "a line twice",
            "record 6 is at the position of record 7; record 7 is at the position of record 8..",
            |log| log.change_line(6, |line| format!("{line}\n{line}")),
        ),
    ]
}

fn additions() -> Vec<Attack> {
    vec![
        found(
            "a record inserted, linked to the one before",
            "record 10 is at the position of record 11; record 11 is at the position of record 12..",
            |log| {
                log.change_lines(|lines| {
                    let line = chained(&lines[8], 10, parts(&lines[8]).0);
                    lines.insert(9, line);
                });
            },
        ),
        found("records of another log in the middle", OTHER_5, |log| {
            log.change_lines(|own| own[4..8].clone_from_slice(&lines(&log.other)[4..8]));
        }),
        found(
            "the beginning of another log",
            "record 4 was replaced: the next record has another hash of it",
            |log| log.change_lines(|own| own[..4].clone_from_slice(&lines(&log.other)[..4])),
        ),
        both("the end of another log", [OTHER_END, OTHER_END_HEAD], |log| {
            log.change_lines(|own| own[16..].clone_from_slice(&lines(&log.other)[16..]));
        }),
        found("two logs in one", "record 1 is at the position of record 21..", |log| {
            log.change_lines(|own| own.extend(lines(&log.other)));
        }),
        by_head("another log", OTHER_HEAD, |log| log.change_lines(|own| *own = lines(&log.other))),
    ]
}

const OTHER_5: &str = "record 4 was replaced: the next record has another hash of it; record 8 was replaced: the next record has another hash of it";
const OTHER_END: &str = "record 16 was replaced: the next record has another hash of it";
const OTHER_END_HEAD: &str = "record 16 was replaced: the next record has another hash of it; record 20 has another hash than the head that was kept: the log was written anew";

fn partial_writes() -> Vec<Attack> {
    vec![
        by_head(
            "the end of the last line removed",
            "the end was cut: the last record is 19, and record 20 was written",
            |log| log.change_bytes(|bytes| bytes[..bytes.len() - 1].to_vec()),
        ),
        by_head(
            "half of the last line",
            "the end was cut: the last record is 19, and record 20 was written",
            |log| log.change_bytes(|bytes| bytes[..bytes.len() - 100].to_vec()),
        ),
        // A writer may be in the middle of a line. It is not a record, and the next writer removes it.
        found("the beginning of a line after the last one", "", |log| {
            log.change_bytes(|bytes| [&bytes[..], b"{\"hash\":"].concat());
        }),
    ]
}

#[tokio::test]
async fn attacks_on_jsonl_files_are_named() {
    let log = Log::written("a.jsonl").await;
    for attacks in [edits(), spellings(), moves(), additions(), partial_writes()] {
        run(&log, &attacks);
    }
}

#[tokio::test]
async fn a_log_that_was_cut_and_continued_has_another_head() {
    let log = Log::written("a.jsonl").await;
    log.change_lines(|lines| lines.truncate(16));
    write_calls(&log.path, 2).await;
    assert_eq!(
        (log.verified(None), log.verified(Some(log.head()))),
        (String::new(), OTHER_HEAD.into())
    );
    assert_eq!(log.head().seq, LAST);
}

/// The limits of any log: whoever can write it can add to its end, as the writer does, and whoever can
/// replace the head too can replace everything.
#[tokio::test]
async fn additions_to_the_end_are_records_and_an_older_head_proves_no_more_than_it_says() {
    let log = Log::written("a.jsonl").await;
    log.change_lines(|lines| {
        let line = chained(&lines[16], LAST + 1, parts(&lines[19]).0);
        lines.push(line);
    });
    assert_eq!(log.verified(Some(log.head())), "");
    let log = Log::written("a.jsonl").await;
    log.change_lines(|lines| lines.truncate(16));
    assert_eq!(log.verified(Some(&log.heads[3])), "");
}
