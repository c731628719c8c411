//! Names with characters that look like others, that are invisible, or that are not UTF-8.

use crate::support::{Folder, Tools, edit, tools};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

#[tokio::test]
async fn files_of_macos_are_found_by_the_names_that_models_write() {
    let screenshot = "Screenshot 2024-05-01 at 3.04.05\u{202f}PM.txt";
    let (folder, tools) = tools(&[(screenshot, "one\n"), ("cafe\u{301}/it\u{2019}s.txt", "two\n")]);
    tools.edit("Screenshot 2024-05-01 at 3.04.05 PM.txt", "one", "1").await;
    assert_eq!(folder.text(screenshot), "1\n");
    tools.edit("café/it's.txt", "two", "2").await;
    let write = json!({ "file_path": "café/it's.txt", "content": "3\n" });
    tools.ok("Write", write).await;
    assert_eq!(folder.text("cafe\u{301}/it\u{2019}s.txt"), "3\n", "no second directory");
    tools.ok("Move", json!({ "source": "café", "destination": "café" })).await;
    assert_eq!(folder.text("café/it\u{2019}s.txt"), "3\n", "the letters are composed now");
    tools.ok("Delete", json!({ "path": "café/it's.txt" })).await;
}

#[tokio::test]
async fn an_exact_name_wins_and_names_that_look_alike_are_told_apart() {
    let (_folder, tools) = tools(&[("café", "composed\n"), ("cafe\u{301}", "decomposed\n")]);
    assert!(tools.read("café").await.contains("\tcomposed"));
    assert!(tools.read("cafe\u{301}").await.contains("decomposed"));
    let (_folder, tools) = crate::support::tools(&[("a\u{a0}b", "one\n"), ("a\u{202f}b", "two\n")]);
    let error = tools.error("Read", json!({ "file_path": "a b" })).await;
    assert_eq!(
        error,
        r"`a b` does not exist, and several names look like it: `a\u{a0}b`, `a\u{202f}b`; give one of these, with its escapes"
    );
    assert!(tools.read(r"a\u{202f}b").await.contains("two"));
}

#[tokio::test]
async fn names_that_would_deceive_are_rendered_with_escapes_and_taken_so() {
    let (folder, tools) = tools(&[("report\u{202e}txt.exe", "x\n"), ("a\nb.txt", "old\n")]);
    let listed = tools.ok("ListDirectory", json!({})).await;
    assert_eq!(listed, "a\\nb.txt (4 bytes)\nreport\\u{202e}txt.exe (2 bytes)\n");
    let changed = tools.edit(r"a\nb.txt", "old", "new").await;
    assert!(changed.starts_with("changed `a\\nb.txt`\n--- a/a\\nb.txt\n"), "{changed}");
    assert_eq!(folder.text("a\nb.txt"), "new\n");
    let deleted = tools.ok("Delete", json!({ "path": "report\u{202e}txt.exe" })).await;
    assert_eq!(deleted, r"deleted `report\u{202e}txt.exe`");
}

#[tokio::test]
async fn names_that_are_not_utf_8_are_read_moved_and_deleted() {
    let (folder, tools) = tools(&[]);
    for name in [&b"caf\xe9.txt"[..], b"na\xefve.txt"] {
        fs::write(folder.path("").join(OsStr::from_bytes(name)), "old\n").unwrap();
    }
    let listed = tools.ok("ListDirectory", json!({})).await;
    assert_eq!(listed, "caf\\xe9.txt (4 bytes)\nna\\xefve.txt (4 bytes)\n");
    tools.edit(r"caf\xe9.txt", "old", "new").await;
    tools.ok("Edit", edit(r"caf\xe9.txt", "new", "newer")).await;
    tools.ok("Move", json!({ "source": r"caf\xe9.txt", "destination": "café.txt" })).await;
    tools.ok("Delete", json!({ "path": r"na\xefve.txt" })).await;
    assert_eq!(folder.names(), ["café.txt"]);
    assert_eq!(folder.text("café.txt"), "newer\n");
}

/// Names of arguments in Claude Code, in Anthropic's `str_replace_based_edit_tool` and in OpenHands.
#[tokio::test]
async fn arguments_by_names_of_other_programs_are_accepted_and_noted() {
    let folder = Folder::new();
    folder.put("a.txt", "one\n");
    let tools = Tools::repairing(folder.path(""));
    for (tool, arguments, names) in [
        ("Read", json!({ "path": "a.txt" }), vec!["file_path"]),
        (
            "Edit",
            json!({ "path": "a.txt", "old_str": "one", "new_str": "two" }),
            vec!["file_path", "old_string", "new_string"],
        ),
        (
            "MultiEdit",
            json!({ "path": "a.txt", "edits": [{ "old_str": "two", "new_str": "three" }] }),
            vec!["file_path"],
        ),
        ("Write", json!({ "path": "b.txt", "file_text": "b" }), vec!["file_path", "content"]),
        ("file_editor", json!({ "command": "view", "file_path": "a.txt" }), vec!["path"]),
        ("str_replace_editor", json!({ "command": "view", "path": "a.txt" }), vec![]),
        ("UndoEdit", json!({ "path": "b.txt" }), vec!["file_path"]),
        ("Read", json!({ "file_path": "a.txt" }), vec![]),
        // One that is not given, and one that is given twice.
        ("Read", json!({ "file_path": "a.txt", "path": null }), vec!["file_path"]),
        ("Read", json!({ "file_path": "a.txt", "path": "a.txt" }), vec!["file_path"]),
    ] {
        let result = tools.call(tool, arguments).await;
        assert!(!result.is_error(), "{tool}: {}", result.observation().to_text());
        let meta = result.observation().meta().cloned().unwrap_or_default();
        let repairs: Vec<String> = match meta.get("tool-runtime/repairs") {
            Some(repairs) => serde_json::from_value(repairs.clone()).unwrap(),
            None => Vec::new(),
        };
        let names = names.iter().map(|name| format!("`{name}`: corrected the name"));
        let tool_name = (tool == "str_replace_editor").then_some("corrected the name of the tool");
        let expected: Vec<String> = tool_name.map(str::to_owned).into_iter().chain(names).collect();
        assert_eq!(repairs, expected, "{tool}");
    }
    assert_eq!(folder.text("a.txt"), "three\n");
    // An alias of the wrong type is renamed and converted.
    let edit =
        json!({ "path": "a.txt", "old_str": "three", "new_str": "four", "replace_all": "true" });
    tools.ok("Edit", edit).await;
    let twice = json!({ "file_path": "a.txt", "path": "b.txt" });
    assert!(tools.error("Read", twice).await.contains("`file_path` is given twice"));
}
