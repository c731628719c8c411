//! `UndoEdit`.

use crate::support::{edit, tools};
use serde_json::json;

#[tokio::test]
async fn changes_are_undone_one_by_one() {
    let (folder, tools) = tools(&[("a.txt", "0\r\n")]);
    tools.read("a.txt").await;
    for number in 0..12 {
        let (old, new) = (number.to_string(), (number + 1).to_string());
        tools.ok("Edit", edit("a.txt", &old, &new)).await;
    }
    for number in (2..12).rev() {
        tools.ok("UndoEdit", json!({"file_path": "a.txt"})).await;
        assert_eq!(folder.text("a.txt"), format!("{number}\r\n"));
    }
    let error = tools.error("UndoEdit", json!({"file_path": "a.txt"})).await;
    assert_eq!(error, "`a.txt` has no change to undo");
    // The model knows the version that came back.
    tools.ok("Edit", edit("a.txt", "2", "two")).await;
}

#[tokio::test]
async fn undo_deletes_what_was_created_and_restores_what_was_deleted() {
    let (folder, tools) = tools(&[("old.txt", "old")]);
    tools.ok("Write", json!({"file_path": "new.txt", "content": "x"})).await;
    tools.ok("UndoEdit", json!({"file_path": "new.txt"})).await;
    tools.ok("Delete", json!({"path": "old.txt"})).await;
    assert!(folder.names().is_empty());
    let value = tools.value("UndoEdit", json!({"file_path": "old.txt"})).await;
    assert_eq!(value["created"], true);
    assert_eq!(folder.text("old.txt"), "old");
}

#[tokio::test]
async fn changes_of_others_are_not_undone() {
    let (folder, tools) = tools(&[("a.txt", "one")]);
    tools.edit("a.txt", "one", "two").await;
    folder.put("a.txt", "three");
    let error = tools.error("UndoEdit", json!({"file_path": "a.txt"})).await;
    assert_eq!(error, "`a.txt` was changed by others since; undo would lose their changes");
    assert_eq!(folder.text("a.txt"), "three");
}

#[tokio::test]
async fn the_history_of_a_file_moves_with_it() {
    let (folder, tools) = tools(&[("dir/a.txt", "one")]);
    tools.edit("dir/a.txt", "one", "two").await;
    tools.ok("Move", json!({"source": "dir", "destination": "other"})).await;
    tools.ok("Edit", edit("other/a.txt", "two", "three")).await;
    for expected in ["two", "one"] {
        tools.ok("UndoEdit", json!({"file_path": "other/a.txt"})).await;
        assert_eq!(folder.text("other/a.txt"), expected);
    }
}
