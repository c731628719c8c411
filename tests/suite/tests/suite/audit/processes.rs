//! Readers beside a writer in another process.

use super::{check_chain, start};
use crate::support::Directory;
use std::io::{BufRead as _, BufReader};
use tool_runtime::audit::LogReader;

#[test]
fn a_reader_follows_a_log_that_another_process_writes() {
    for name in ["calls.db", "calls.jsonl"] {
        let directory = Directory::new();
        let log = directory.file(name);
        let (mut child, _limit) = start(&log, &directory.file("effects"), "loop", "one");
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        output.next();
        let mut records = LogReader::open(&log).unwrap().records();
        let (mut seen, mut after) = (0, 0);
        for _ in 0..50 {
            output.next();
            for record in records.by_ref() {
                let record = record.unwrap();
                assert!(record.seq > after);
                (seen, after) = (seen + 1, record.seq);
            }
            check_chain(&log);
        }
        assert!(seen > 50, "{seen}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
