//! B3, files by name.

use crate::support::Desk;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const TREE: &[(&str, &str)] = &[
    ("old.rs", ""),
    ("a.rs", ""),
    ("b.toml", ""),
    ("foox", ""),
    ("src/x", ""),
    ("src/main.rs", ""),
    ("-dash.md", ""),
    (".hidden/secret.rs", ""),
    ("node_modules/p/index.js", ""),
];

/// The files, newest first.
async fn found(desk: &Desk, arguments: Value) -> Vec<String> {
    let value = desk.value("Glob", arguments).await;
    value["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap().to_owned())
        .collect()
}

async fn pattern(pattern: &str) -> Vec<String> {
    found(&Desk::new(TREE), json!({ "pattern": pattern })).await
}

#[tokio::test]
async fn a_star_stays_in_one_directory_and_two_cross_them() {
    assert_eq!(pattern("*.rs").await, ["a.rs", "old.rs"]);
    assert_eq!(pattern("**/*.rs").await, ["src/main.rs", "a.rs", "old.rs"]);
}

#[tokio::test]
async fn a_question_mark_is_one_character() {
    assert_eq!(pattern("?.rs").await, ["a.rs"]);
}

#[tokio::test]
async fn braces_and_brackets_are_alternatives() {
    assert_eq!(pattern("{a,b}.{rs,toml}").await, ["b.toml", "a.rs"]);
    assert_eq!(pattern("[ab].*").await, ["b.toml", "a.rs"]);
    assert_eq!(pattern("[!a].*").await, ["b.toml"]);
}

#[tokio::test]
async fn an_exclamation_mark_finds_all_others() {
    assert_eq!(pattern("!**/*.{rs,toml,js,md}").await, ["src/x", "foox"]);
}

#[tokio::test]
async fn a_name_is_not_the_end_of_another() {
    assert_eq!(pattern("**/x").await, ["src/x"]);
}

#[tokio::test]
async fn a_pattern_may_begin_with_a_dash() {
    assert_eq!(pattern("-*").await, ["-dash.md"]);
}

#[tokio::test]
async fn hidden_files_are_found_if_asked() {
    let desk = Desk::new(TREE);
    assert!(found(&desk, json!({ "pattern": "**/secret.rs" })).await.is_empty());
    let hidden = json!({ "pattern": "**/secret.rs", "hidden": true });
    assert_eq!(found(&desk, hidden).await, [".hidden/secret.rs"]);
}

#[tokio::test]
async fn node_modules_is_skipped_where_gitignore_says_so() {
    assert_eq!(pattern("**/*.js").await, ["node_modules/p/index.js"]);
    let desk = Desk::new(TREE);
    desk.put(".gitignore", "node_modules\n");
    desk.put(".git/HEAD", "");
    assert!(found(&desk, json!({ "pattern": "**/*.js" })).await.is_empty());
    let all = json!({ "pattern": "**/*.js", "no_ignore": true });
    assert_eq!(found(&desk, all).await, ["node_modules/p/index.js"]);
}

#[tokio::test]
async fn the_path_of_a_link_is_kept() {
    let desk = Desk::new(TREE);
    symlink("src", desk.path("link")).unwrap();
    symlink("src/main.rs", desk.path("link.rs")).unwrap();
    assert_eq!(found(&desk, json!({ "pattern": "link/*.rs" })).await, ["link/main.rs"]);
    assert_eq!(found(&desk, json!({ "pattern": "link.*" })).await, ["link.rs"]);
}

#[tokio::test]
async fn a_pattern_may_be_absolute() {
    let desk = Desk::new(TREE);
    let absolute =
        format!("{}/src/*.rs", desk.path("").display().to_string().trim_end_matches('/'));
    assert_eq!(found(&desk, json!({ "pattern": absolute })).await, ["src/main.rs"]);
    desk.error("Glob", json!({ "pattern": "/etc/*" })).await;
}

#[tokio::test]
async fn five_hundred_are_listed_and_a_notice_says_how_many_there_are() {
    let names: Vec<String> = (0..510).map(|number| format!("{number:03}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let desk = Desk::new(&files);
    let listed = found(&desk, json!({ "pattern": "*" })).await;
    // The newest first.
    assert_eq!((listed.len(), &*listed[0], &*listed[499]), (500, "509", "010"));
    let text = desk.ok("Glob", json!({ "pattern": "*" })).await;
    assert!(text.ends_with("[the newest 500 of 510 files; narrow `pattern` or `path`]"), "{text}");
}
