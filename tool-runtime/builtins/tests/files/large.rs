//! Files of a gigabyte.

use crate::support::Folder;
use crate::support::Tools;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};

const GIGABYTE: u64 = 1 << 30;

/// A file whose middle is a hole.
fn sparse(folder: &Folder) {
    let mut file = File::create(folder.path("large.log")).unwrap();
    for line in 1..=30_000 {
        writeln!(file, "line {line}").unwrap();
    }
    file.seek(SeekFrom::Start(GIGABYTE)).unwrap();
    file.write_all(b"\nlast but one\nlast").unwrap();
}

fn read(offset: i64, limit: usize) -> Value {
    json!({ "file_path": "large.log", "offset": offset, "limit": limit })
}

#[tokio::test]
async fn a_gigabyte_is_read_in_parts() {
    let folder = Folder::new();
    sparse(&folder);
    let tools = Tools::over(folder.path(""));
    let value = tools.value("Read", read(20_001, 2)).await;
    assert_eq!(
        value["text"],
        " 20001\tline 20001\n 20002\tline 20002\n[lines 20001 to 20002; continue with offset 20003]\n"
    );
    assert!(value["total"].is_null() && value["sha256"].is_null());
    let last = tools.value("Read", read(-2, 10)).await;
    assert_eq!(last["text"], " 30002\tlast but one\n 30003\tlast\n");
    assert_eq!(last["total"], 30_003);
    let error = tools.error("Read", read(30_004, 1)).await;
    assert_eq!(error, "`large.log` has 30003 lines, and line 30004 is past its end");
    // The hole is one line of zeros, which is cut.
    let hole = tools.value("Read", read(30_001, 1)).await;
    assert_eq!(hole["lines"], 1);
    assert!(hole["text"].as_str().unwrap().len() < 10_000);
}

#[tokio::test]
async fn a_gigabyte_is_not_edited() {
    let folder = Folder::new();
    sparse(&folder);
    let tools = Tools::over(folder.path(""));
    tools.ok("Read", read(1, 1)).await;
    let edit = crate::support::edit("large.log", "line 1\n", "x");
    let error = tools.error("Edit", edit).await;
    assert!(
        error.contains("cannot be changed by this tool; run a command that streams it"),
        "{error}"
    );
    assert_eq!(std::fs::metadata(folder.path("large.log")).unwrap().len(), GIGABYTE + 18);
    assert_eq!(folder.names(), ["large.log"]);
}
