//! Answers by a search of the text.

use super::{Fixture, at};
use crate::code::LanguageServer;
use serde_json::{Value, json};
use std::fs;

/// A project in Rust, whose server is not installed.
fn without_server() -> Fixture {
    let extensions = [("rs", "rust")];
    let server = LanguageServer {
        install: Some("run the installer".to_owned()),
        ..LanguageServer::new("no-such-server", [], extensions)
    };
    let fixture = Fixture::with(server);
    fixture.put("lib.rs", "mod parse;\n\npub struct Reader;\n\npub fn read_all() { read(); }\n");
    fixture.put("parse.rs", "/// Reads.\npub(crate) fn read() -> Reader {\n    Reader\n}\n");
    fixture.put("notes.md", "fn read\n");
    fixture
}

/// The lines of the items, and the notices.
fn lines(value: &Value) -> Vec<String> {
    let items = value["items"].as_array().unwrap().iter();
    let items = items.map(|item| {
        let (path, kind) = (item["path"].as_str().unwrap(), item["kind"].as_str().unwrap_or("-"));
        format!("{path}:{}:{} {kind} {}", item["line"], item["character"], item["text"])
    });
    items.collect()
}

#[tokio::test]
async fn definitions_references_and_symbols_are_found_by_text() {
    let fixture = without_server();
    let found = fixture.call(at("goToDefinition", "lib.rs", 5, 22)).await.unwrap();
    assert_eq!(lines(&found), [r#"parse.rs:2:15 function "pub(crate) fn read() -> Reader {""#]);
    assert_eq!((&found["language"], &found["items"][0]["name"]), (&json!("fake"), &json!("read")));
    let notice = found["notices"][0].as_str().unwrap();
    assert!(
        notice.starts_with("found by a search of the text, not by a language server"),
        "{notice}"
    );
    assert!(notice.ends_with("`no-such-server` is missing; run the installer"), "{notice}");

    let found = fixture.call(at("findReferences", "./parse.rs", 2, 16)).await.unwrap();
    let expected = [
        r#"lib.rs:5:21 - "pub fn read_all() { read(); }""#,
        r#"parse.rs:2:15 - "pub(crate) fn read() -> Reader {""#,
    ];
    assert_eq!(lines(&found), expected);
    let symbols = json!({"operation": "documentSymbol", "file_path": "lib.rs"});
    let expected = [
        r#"lib.rs:1:5 module "mod parse;""#,
        r#"lib.rs:3:12 struct "pub struct Reader;""#,
        r#"lib.rs:5:8 function "pub fn read_all() { read(); }""#,
    ];
    assert_eq!(lines(&fixture.call(symbols).await.unwrap()), expected);
    let symbols = json!({"operation": "workspaceSymbol", "file_path": "lib.rs", "query": "READ"});
    let found = fixture.call(symbols).await.unwrap();
    assert_eq!(found["total"], 3, "{found}");
}

#[tokio::test]
async fn implementations_are_found_by_text() {
    let fixture = without_server();
    fixture.put("impls.rs", "trait Source {}\nimpl Source for Reader {}\n");
    let found = fixture.call(at("goToImplementation", "impls.rs", 1, 7)).await.unwrap();
    assert_eq!(lines(&found), [r#"impls.rs:2:6 - "impl Source for Reader {}""#]);
}

#[tokio::test]
async fn a_language_without_a_server_is_searched_too() {
    let fixture = without_server();
    fixture.put("a.rb", "def greet\nend\ngreet\n");
    let found = fixture.call(at("goToDefinition", "a.rb", 3, 1)).await.unwrap();
    assert_eq!(lines(&found), [r#"a.rb:1:5 function "def greet""#]);
    let notice = found["notices"][0].as_str().unwrap();
    assert!(
        notice.ends_with("there is no language server for `a.rb`; there are for `.rs`"),
        "{notice}"
    );
}

#[tokio::test]
async fn a_worktree_is_searched_alone() {
    let fixture = without_server();
    fs::create_dir_all(fixture.directory.path().join(".worktrees/w")).unwrap();
    fixture.put(".worktrees/.gitignore", "*\n");
    fixture.put(".worktrees/w/parse.rs", "fn read() {}\n");
    let found = fixture.call(at("goToDefinition", ".worktrees/w/parse.rs", 1, 4)).await.unwrap();
    assert_eq!(lines(&found), [r#".worktrees/w/parse.rs:1:4 function "fn read() {}""#]);
}

#[tokio::test]
async fn the_rest_needs_a_server_and_says_which() {
    let fixture = without_server();
    for operation in ["hover", "incomingCalls"] {
        let error = fixture.call(at(operation, "lib.rs", 3, 12)).await.unwrap_err();
        let expected = format!(
            "`{operation}` needs a language server; `no-such-server` is missing; run the installer"
        );
        assert_eq!(error, expected);
    }
    let error = fixture.call(at("goToDefinition", "lib.rs", 5, 20)).await.unwrap_err();
    assert!(error.starts_with("there is no name at line 5, character 20 of `lib.rs`"), "{error}");
    let error = fixture.call(at("goToDefinition", "lib.rs", 9, 1)).await.unwrap_err();
    assert_eq!(error, "`lib.rs` has 6 lines; there is no line 9");
    let missing = json!({"operation": "workspaceSymbol", "file_path": "lib.rs", "query": "absent"});
    let found = fixture.call(missing).await.unwrap();
    assert_eq!(found["notices"][0], "nothing was found");
}
