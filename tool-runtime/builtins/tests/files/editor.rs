//! `file_editor`.

use crate::support::tools;
use serde_json::json;

#[tokio::test]
async fn commands_view_and_change_files() {
    let (folder, tools) = tools(&[("dir/a.txt", "one\ntwo\nthree\n")]);
    let text = tools
        .ok("file_editor", json!({"command": "view", "path": "dir/a.txt", "view_range": [2, -1]}))
        .await;
    assert_eq!(text, "     2\ttwo\n     3\tthree\n");
    let text = tools.ok("file_editor", json!({"command": "view", "path": "."})).await;
    assert_eq!(text, "dir/\ndir/a.txt (14 bytes)\n");
    let replace =
        json!({"command": "str_replace", "path": "dir/a.txt", "old_str": "two", "new_str": "2"});
    let value = tools.value("file_editor", replace).await;
    assert_eq!(value["change"]["replacements"], 1);
    let insert =
        json!({"command": "insert", "path": "dir/a.txt", "insert_line": 1, "new_str": "1.5"});
    tools.ok("file_editor", insert).await;
    assert_eq!(folder.text("dir/a.txt"), "one\n1.5\n2\nthree\n");
    for expected in ["one\n2\nthree\n", "one\ntwo\nthree\n"] {
        tools.ok("file_editor", json!({"command": "undo_edit", "path": "dir/a.txt"})).await;
        assert_eq!(folder.text("dir/a.txt"), expected);
    }
}

#[tokio::test]
async fn mistakes_of_commands_are_explained() {
    let (_folder, tools) = tools(&[("a", "x\n")]);
    let cases = [
        (
            json!({"command": "create", "path": "a", "file_text": "y"}),
            "`a` exists already; change it by `str_replace`",
        ),
        (json!({"command": "create", "path": "b"}), "`create` needs `file_text`"),
        (
            json!({"command": "insert", "path": "a", "insert_line": 5, "new_str": ""}),
            "`a` has 1 lines; `insert_line` must be between 0 and 1",
        ),
        (
            json!({"command": "view", "path": "a", "view_range": [3, 2]}),
            "`view_range` must be the first and the last line, counted from 1, or -1 for the end",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(tools.error("file_editor", arguments).await, expected);
    }
}

#[tokio::test]
async fn errors_name_the_argument_of_the_editor() {
    let (_folder, tools) = tools(&[("a", "x\nx\n")]);
    for (old, new) in [("y", "z"), ("x", "z"), ("x", "x"), ("", "z")] {
        let arguments =
            json!({"command": "str_replace", "path": "a", "old_str": old, "new_str": new});
        let text = tools.error("file_editor", arguments).await;
        assert!(text.starts_with("`a`: `old_str` ") && !text.contains("old_string"), "{text}");
    }
}
