//! Large files, calls at the same time, and writes that fail.

use crate::case::{Arena, Case, Outcome};
use futures_util::FutureExt as _;
use std::fs::{self, File};
use std::io::Write as _;

/// Bytes of the large file, and of memory that its first lines may cost.
const LARGE: u64 = 1 << 30;
const MEMORY: u64 = 64 << 20;
/// Pairs of edits at the same time.
const PAIRS: usize = 40;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("the first lines of 1 GB take less than 64 MB of memory", |arena| {
            large(arena).boxed()
        }),
        Case::new("two edits at the same time are both kept, or one is refused", |arena| {
            concurrent(arena).boxed()
        }),
        Case::new("a write that fails halfway leaves the old file", |arena| failing(arena).boxed()),
    ]
}

async fn large(arena: &Arena) -> Outcome {
    let path = arena.put("root/large.log", "");
    let mut file = File::create(&path).expect("room for a file");
    for line in 1..=100_000 {
        writeln!(file, "line {line}").expect("room for a line");
    }
    file.set_len(LARGE).expect("room for a hole");
    let connection = arena.connect().await;
    let before = connection.peak_memory();
    let read = connection.head(&path, 10).await;
    let grown = connection.peak_memory().saturating_sub(before);
    connection.close().await;
    match read {
        Ok(text) if !text.contains("line 10") || text.contains("line 11\n") => {
            Outcome::Broken("other lines are read")
        }
        Ok(_) if grown > MEMORY => Outcome::Broken("it takes more"),
        Ok(_) => Outcome::Kept,
        Err(_) => Outcome::Refused,
    }
}

async fn concurrent(arena: &Arena) -> Outcome {
    let connection = arena.connect().await;
    for pair in 0..PAIRS {
        let path = arena.put(&format!("root/{pair}.txt"), "one\nmiddle\ntwo\n");
        drop(connection.read(&path).await);
        let (first, second) = tokio::join!(
            connection.edit(&path, "one", "ONE"),
            connection.edit(&path, "two", "TWO")
        );
        let text = fs::read_to_string(&path).expect("the file is there");
        let done = [(first, "ONE"), (second, "TWO")];
        if done.iter().any(|(answer, word)| answer.is_ok() != text.contains(word)) {
            connection.close().await;
            return Outcome::Broken("an edit that was reported as done is lost");
        }
    }
    connection.close().await;
    Outcome::Kept
}

/// The server cannot write more than 256 KiB of a file, as when the disk is full, or is killed then.
async fn failing(arena: &Arena) -> Outcome {
    let long = "x".repeat(1 << 20);
    for is_edit in [false, true] {
        let path = arena.put("root/a.txt", "one\n");
        let connection = arena.connect_limited().await;
        drop(connection.read(&path).await);
        let answer = match is_edit {
            true => connection.edit(&path, "one", &long).await,
            false => connection.write(&path, &long).await,
        };
        connection.close().await;
        if answer.is_ok() {
            return Outcome::Broken("reported as done");
        }
        if fs::read_to_string(&path).ok().as_deref() != Some("one\n") {
            return Outcome::Broken("a part of the new file replaces the old one");
        }
    }
    Outcome::Kept
}
