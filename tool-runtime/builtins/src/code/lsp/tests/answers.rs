//! Answers, and the state of documents.

use super::{Fixture, at, ended, scripted};
use crate::code::LanguageServer;
use crate::test_time::skip_time;
use serde_json::{Value, json};
use std::fs;
use std::pin::pin;
use std::time::Duration;

#[tokio::test]
async fn characters_are_converted_to_the_units_of_every_server() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let fixture = Fixture::with(scripted(encoding, "push"));
        fixture.put("a.x", "one\r\n😀é = name\r\n");
        let value = fixture.call(at("findReferences", "./a.x", 2, 6)).await.unwrap();
        let expected = json!([{"path": "a.x", "line": 2, "character": 6, "end_line": 2, "end_character": 10,
                               "text": "😀é = name"}]);
        assert_eq!(value["items"], expected, "{encoding}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn documents_follow_the_disk() {
    let fixture = Fixture::new();
    fixture.put("a.x", "first");
    fixture.put("other.x", "1");
    let state = fixture.state("a.x").await.unwrap();
    assert_eq!(
        [&state["text"], &state["version"], &state["id"]],
        [&json!("first"), &json!(1), &json!("fake")]
    );
    assert_eq!(state["watched"], json!([]));
    fixture.put("a.x", "second");
    fixture.put("other.x", "12");
    fixture.put("new.x", "");
    fixture.put("ignored.txt", "");
    let state = fixture.state("a.x").await.unwrap();
    assert_eq!([&state["text"], &state["version"]], [&json!("second"), &json!(2)]);
    assert_eq!(state["watched"], json!([[1, "new.x"], [2, "a.x"], [2, "other.x"]]));
    fs::remove_file(fixture.directory.path().join("new.x")).unwrap();
    let state = fixture.state("a.x").await.unwrap();
    assert_eq!(state["version"], 2);
    assert!(state["watched"].as_array().unwrap().contains(&json!([3, "new.x"])), "{state}");
    fixture.close().await;
}

/// Servers skip hidden directories of their project, such as that of the worktrees.
#[tokio::test]
async fn a_worktree_is_a_project_of_its_own() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.directory.path().join(".worktrees/w/dir")).unwrap();
    fixture.put("a.x", "root");
    fixture.put(".worktrees/w/dir/a.x", "tree");
    let alive = fixture.state(".worktrees/w/dir/a.x").await.unwrap();
    assert_eq!([&alive["root"], &alive["text"]], [&json!(["w"]), &json!("tree")]);
    let value = fixture.call(at("findReferences", ".worktrees/w/dir/a.x", 1, 1)).await.unwrap();
    assert_eq!(value["items"][0]["path"], ".worktrees/w/dir/a.x");
    assert_ne!(fixture.state("a.x").await.unwrap()["root"], json!(["w"]));
    fixture.close().await;
}

#[tokio::test]
async fn diagnostics_are_those_of_the_current_file() {
    for kind in ["push", "pull"] {
        let fixture = Fixture::with(scripted("utf-16", kind));
        fixture.put("a.x", "ok\n  😀ERR");
        let arguments = json!({"operation": "diagnostics", "file_path": "a.x"});
        let value = fixture.call(arguments.clone()).await.unwrap();
        let item = json!({"path": "a.x", "line": 2, "character": 4, "end_line": 2, "end_character": 7,
                          "text": "😀ERR", "severity": "error", "message": "bad"});
        assert_eq!(value["items"], json!([item]), "{kind}");
        fixture.put("a.x", "fixed");
        let value = fixture.call(arguments).await.unwrap();
        assert_eq!(
            [&value["items"], &value["notices"]],
            [&json!([]), &json!(["nothing was found"])]
        );
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_rename_is_shown_and_not_made() {
    let fixture = Fixture::new();
    fixture.put("a.x", "😀 old = 1\nprint(old, old)\n");
    fixture.put("b.x", "use old");
    let mut arguments = at("renamePreview", "a.x", 1, 3);
    arguments["new_name"] = "fresh".into();
    let value = fixture.call(arguments).await.unwrap();
    assert_eq!(
        value["diff"],
        "--- a/a.x\n+++ b/a.x\n@@ -1,2 +1,2 @@\n-😀 old = 1\n-print(old, old)\n+😀 fresh = 1\n+print(fresh, fresh)\n\
         --- a/b.x\n+++ b/b.x\n@@ -1 +1 @@\n-use old\n\\ No newline at end of file\n+use fresh\n\\ No newline at end of file\n"
    );
    assert_eq!(value["total"], 4);
    assert!(value["notices"][0].as_str().unwrap().contains("would be renamed to"), "{value}");
    assert_eq!(fs::read_to_string(fixture.directory.path().join("b.x")).unwrap(), "use old");
    fixture.close().await;
}

#[tokio::test]
async fn results_are_capped_and_files_outside_are_not_read() {
    let fixture = Fixture::new();
    fixture.put("a.x", "MANY");
    let value = fixture.call(at("findReferences", "a.x", 1, 1)).await.unwrap();
    assert_eq!((value["items"].as_array().unwrap().len(), &value["total"]), (200, &json!(300)));
    assert_eq!(value["notices"], json!(["100 more are not shown"]));
    let value = fixture.call(at("goToDefinition", "a.x", 1, 1)).await.unwrap();
    let item = json!({"path": "/etc/hostname", "line": 1, "character": 5, "end_line": 1, "end_character": 5});
    assert_eq!(value["items"], json!([item]));
    fixture.close().await;
}

#[tokio::test]
async fn long_messages_are_cut() {
    let fixture = Fixture::new();
    fixture.put("a.x", "ERR LONG");
    let diagnostics = json!({"operation": "diagnostics", "file_path": "a.x"});
    let value = fixture.call(diagnostics).await.unwrap();
    assert_eq!(value["items"][0]["message"].as_str().unwrap().len(), 2002);
    fixture.close().await;
}

#[tokio::test]
async fn the_questions_of_a_server_are_answered() {
    let server =
        LanguageServer { settings: json!({"fake": {"level": 3}}), ..scripted("utf-16", "push") };
    let fixture = Fixture::with(server);
    fixture.put("a.x", "ASK");
    let answers = fixture.state("a.x").await.unwrap()["answers"].clone();
    assert_eq!([&answers["q1"], &answers["q2"]["applied"]], [&json!([3]), &json!(false)]);
    assert_eq!([&answers["q3"], &answers["q4"]], [&Value::Null, &json!(-32601)]);
    fixture.close().await;
}

#[tokio::test]
async fn requests_wait_until_the_project_is_read() {
    let fixture = Fixture::new();
    fixture.put("a.x", "");
    // The server is busy for a while if this file is there, and sees requests that do not wait.
    fixture.put("busy", "");
    let state = fixture.state("a.x").await.unwrap();
    assert_eq!(state["busy_ended"], true);
    fixture.close().await;
}

#[tokio::test]
async fn a_server_that_reports_nothing_is_asked_within_three_seconds() {
    let fixture = Fixture::with(scripted("utf-16", "silent"));
    fixture.put("a.x", "");
    let opened = fixture.pipe("opened");
    let mut call = pin!(fixture.state("a.x"));
    tokio::select! {
        _ = &mut call => panic!("the server is given time to read"),
        _ = ended(opened) => {}
    }
    skip_time(Duration::from_secs(3)).await;
    // Against a limit of 15 seconds, which servers have that report their work.
    tokio::time::timeout(Duration::from_secs(8), call).await.expect("the answer").unwrap();
    fixture.close().await;
}

#[tokio::test]
async fn mistakes_are_explained() {
    let fixture = Fixture::new();
    fixture.put("a.x", "one\nä");
    fixture.put("a.txt", "");
    let mut lines = at("hover", "a.x", 3, 1);
    let cases = [
        (lines.take(), "`a.x` has 2 lines; there is no line 3"),
        (at("hover", "a.x", 2, 3), "line 2 of `a.x` has 1 characters; there is no character 3"),
        (
            json!({"operation": "hover", "file_path": "a.x", "line": 1}),
            "`hover` needs `line` and `character`",
        ),
        (at("renamePreview", "a.x", 1, 1), "`renamePreview` needs `new_name`"),
        (
            json!({"operation": "workspaceSymbol", "file_path": "a.x"}),
            "`workspaceSymbol` needs `query`",
        ),
        (
            at("hover", "a.txt", 1, 1),
            "`hover` needs a language server; there is no language server for `a.txt`; there are for `.x`",
        ),
        (at("hover", "b.x", 1, 1), "`b.x`: No such file or directory (os error 2)"),
        (at("hover", "../b.x", 1, 1), "`../b.x` is outside the workspace"),
        (
            at("goToImplementation", "a.x", 1, 1),
            "the language server for `fake` does not offer `goToImplementation` (it lacks `implementationProvider`)",
        ),
    ];
    for (arguments, expected) in cases {
        let error = fixture.call(arguments).await.unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    fixture.close().await;
}
