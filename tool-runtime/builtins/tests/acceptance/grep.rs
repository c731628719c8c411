//! B4, files by content.

use crate::support::Desk;
use serde_json::{Value, json};

const TREE: &[(&str, &str)] = &[
    ("old.rs", "fn one() {}\nfn Two() {}\n"),
    ("notes.md", "one\n--flag\nstart\nend\n"),
    ("a/code.rs", "one\none one\nx\ny\nz\none\n"),
    (".hidden", "one\n"),
];

async fn text(arguments: Value) -> String {
    Desk::new(TREE).ok("Grep", arguments).await
}

/// The lines of the file `a/code.rs` in a result.
async fn lines(mut arguments: Value) -> Vec<u64> {
    arguments["path"] = json!("a/code.rs");
    arguments["output_mode"] = json!("content");
    let value = Desk::new(TREE).value("Grep", arguments).await;
    let lines = value["files"][0]["lines"].as_array().unwrap();
    lines.iter().map(|line| line["number"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn files_lines_and_counts_are_modes_and_the_newest_come_first() {
    assert_eq!(text(json!({ "pattern": "one" })).await, "a/code.rs\nnotes.md\nold.rs");
    let content = json!({ "pattern": "one", "output_mode": "content", "glob": "*.md" });
    assert_eq!(text(content).await, "notes.md:1:one");
    let count = json!({ "pattern": "one", "output_mode": "count" });
    assert_eq!(text(count).await, "a/code.rs:3\nnotes.md:1\nold.rs:1");
}

#[tokio::test]
async fn case_is_ignored_if_asked() {
    assert!(text(json!({ "pattern": "two" })).await.starts_with("[no match"));
    assert_eq!(text(json!({ "pattern": "two", "-i": true })).await, "old.rs");
}

#[tokio::test]
async fn context_has_no_line_twice() {
    assert_eq!(lines(json!({ "pattern": "one", "-C": 2 })).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(lines(json!({ "pattern": "one", "-A": 1, "-B": 1 })).await, [1, 2, 3, 5, 6]);
}

#[tokio::test]
async fn a_limit_is_stated_and_the_rest_can_be_seen() {
    let first = text(json!({ "pattern": "one", "head_limit": 1 })).await;
    assert!(first.starts_with("a/code.rs\n[1 files are shown of 3"), "{first}");
    assert!(first.contains("`offset: 1`"), "{first}");
    assert_eq!(text(json!({ "pattern": "one", "offset": 1 })).await, "notes.md\nold.rs");
    // Exactly as many as the limit is not a cut.
    assert_eq!(
        text(json!({ "pattern": "one", "head_limit": 3 })).await,
        "a/code.rs\nnotes.md\nold.rs"
    );
    assert_eq!(lines(json!({ "pattern": "one", "head_limit": 3 })).await, [1, 2, 6]);
}

#[tokio::test]
async fn a_type_and_a_glob_select_files() {
    assert_eq!(text(json!({ "pattern": "one", "type": "rust" })).await, "a/code.rs\nold.rs");
    assert_eq!(text(json!({ "pattern": "one", "glob": "*.{md,txt}" })).await, "notes.md");
}

#[tokio::test]
async fn hidden_files_are_searched_if_asked() {
    let hidden = json!({ "pattern": "one", "hidden": true, "head_limit": 1 });
    assert!(text(hidden).await.starts_with(".hidden\n"));
}

#[tokio::test]
async fn binary_files_are_skipped() {
    let desk = Desk::new(&[("a.txt", "one\n"), ("data", "\0\0one\n")]);
    assert_eq!(desk.ok("Grep", json!({ "pattern": "one" })).await, "a.txt");
}

#[tokio::test]
async fn an_invalid_expression_is_an_error() {
    let error = Desk::new(TREE).error("Grep", json!({ "pattern": "a(b" })).await;
    assert!(error.contains("unclosed group"), "{error}");
}

#[tokio::test]
async fn a_pattern_may_begin_with_a_dash() {
    assert_eq!(text(json!({ "pattern": "--flag" })).await, "notes.md");
    assert!(text(json!({ "pattern": "-e" })).await.starts_with("[no match"));
}

#[tokio::test]
async fn a_match_may_span_lines() {
    let pattern = "start.end";
    assert!(text(json!({ "pattern": pattern })).await.starts_with("[no match"));
    assert_eq!(text(json!({ "pattern": pattern, "multiline": true })).await, "notes.md");
}

#[tokio::test]
async fn a_file_may_be_the_target() {
    assert_eq!(text(json!({ "pattern": "one", "path": "old.rs" })).await, "old.rs");
}

#[tokio::test]
async fn counts_are_exact_beyond_the_limit() {
    let desk = Desk::new(&[("a.txt", &"one\n".repeat(1234)), ("b.txt", "one\n")]);
    let count = json!({ "pattern": "one", "output_mode": "count" });
    assert_eq!(desk.ok("Grep", count).await, "b.txt:1\na.txt:1234");
    let content = json!({ "pattern": "one", "output_mode": "content" });
    let value = desk.value("Grep", content).await;
    assert_eq!([&value["total_matches"], &value["total_files"]], [1235, 2]);
}
