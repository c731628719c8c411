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
    assert!(
        error.starts_with("`a.txt` was changed, but this cannot be undone any more"),
        "{error}"
    );
    // The restored version counts as read.
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
    assert_eq!(
        error,
        "`a.txt` was changed by others since, and undo would lose their changes; edit or write the file instead"
    );
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

#[tokio::test]
async fn a_move_is_not_undone_but_said_how() {
    let (folder, tools) = tools(&[("a.txt", "one"), ("b.txt", "two")]);
    tools.ok("Delete", json!({"path": "b.txt"})).await;
    tools.ok("Move", json!({"source": "a.txt", "destination": "b.txt"})).await;
    for name in ["a.txt", "b.txt"] {
        let error = tools.error("UndoEdit", json!({ "file_path": name })).await;
        let expected = "has no change of its content to undo; to undo a move, move the entry back;";
        assert!(error.starts_with(&format!("`{name}` {expected}")), "{error}");
    }
    assert_eq!((folder.names(), folder.text("b.txt")), (vec!["b.txt".into()], "one".into()));
}

#[cfg(unix)]
#[tokio::test]
async fn permissions_come_back_and_links_and_directories_are_said_how() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (folder, tools) = tools(&[("run.sh", "x\n")]);
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(folder.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("/outside", folder.path("link")).unwrap();
    fs::create_dir(folder.path("empty")).unwrap();
    for (path, rest) in [
        ("run.sh", ""),
        ("link", "; `UndoEdit` does not restore it: create it again by `ln -s /outside`"),
        ("empty", "; `UndoEdit` does not restore it: create it again by `mkdir`"),
    ] {
        let text = tools.ok("Delete", json!({ "path": path })).await;
        assert_eq!(text, format!("deleted `{path}`{rest}"));
    }
    assert!(folder.names().is_empty());
    tools.ok("UndoEdit", json!({ "file_path": "run.sh" })).await;
    assert_eq!(mode("run.sh"), 0o750);
    let patch =
        "*** Begin Patch\n*** Update File: run.sh\n*** Move to: go.sh\n@@\n-x\n+y\n*** End Patch\n";
    tools.ok("apply_patch", json!({ "patch": patch })).await;
    assert_eq!((folder.text("go.sh"), mode("go.sh")), ("y\n".to_owned(), 0o750));
}

/// A patch that moves a file, with a hunk for its first line.
fn moving(from: &str, to: &str, lines: &str) -> serde_json::Value {
    let patch = format!(
        "*** Begin Patch\n*** Update File: {from}\n*** Move to: {to}\n{lines}*** End Patch\n"
    );
    json!({ "patch": patch })
}

#[tokio::test]
async fn the_content_of_a_file_that_a_patch_moved_is_undone_under_its_new_name() {
    let (folder, tools) = tools(&[("a.txt", "one\n")]);
    tools.ok("apply_patch", moving("a.txt", "new/b.txt", "@@\n-one\n+two\n")).await;
    assert_eq!(folder.text("new/b.txt"), "two\n");
    tools.error("UndoEdit", json!({ "file_path": "a.txt" })).await;
    let value = tools.value("UndoEdit", json!({ "file_path": "new/b.txt" })).await;
    assert!(value["diff"].as_str().unwrap().contains("-two\n+one\n"), "{value}");
    assert_eq!(folder.text("new/b.txt"), "one\n");
    // The restored version counts as read.
    tools.ok("Edit", edit("new/b.txt", "one", "three")).await;
    folder.put("new/b.txt", "others");
    let error = tools.error("UndoEdit", json!({"file_path": "new/b.txt"})).await;
    assert!(error.starts_with("`new/b.txt` was changed by others since"), "{error}");
    assert_eq!(folder.text("new/b.txt"), "others");
}

/// A change of several files is kept whole or not at all.
#[tokio::test]
async fn the_files_of_a_patch_are_forgotten_together() {
    let (folder, tools) = tools(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-0\n+1\n*** Update File: b.txt\n@@\n-0\n+1\n*** End Patch\n";
    tools.ok("apply_patch", json!({ "patch": patch })).await;
    for number in 1..=10 {
        let (old, new) = (number.to_string(), (number + 1).to_string());
        tools.edit("a.txt", &old, &new).await;
    }
    for path in ["a.txt", "b.txt"] {
        while !tools.call("UndoEdit", json!({ "file_path": path })).await.is_error() {}
        let error = tools.error("UndoEdit", json!({ "file_path": path })).await;
        assert!(error.contains("cannot be undone any more"), "{error}");
        assert_eq!(folder.text(path), "1\n");
    }
}
