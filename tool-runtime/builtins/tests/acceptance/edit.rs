//! B2, writing and editing.

use crate::support::Desk;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

/// An edit of `a.txt` after reading it: whether it succeeds, and the file.
async fn edited(content: &str, old: &str, new: &str) -> (bool, String) {
    let desk = Desk::new(&[("a.txt", content)]);
    desk.call("Read", json!({ "file_path": "a.txt" })).await;
    let result = desk.edit("a.txt", old, new).await;
    (!result.is_error(), desk.text("a.txt"))
}

#[tokio::test]
async fn missing_directories_are_created() {
    let desk = Desk::new(&[]);
    desk.ok("Write", json!({ "file_path": "a/b/c.txt", "content": "x" })).await;
    assert_eq!(desk.text("a/b/c.txt"), "x");
}

#[tokio::test]
async fn a_file_that_was_read_is_overwritten_and_another_is_not() {
    let desk = Desk::new(&[("a.txt", "old")]);
    let write = json!({ "file_path": "a.txt", "content": "new" });
    desk.error("Write", write.clone()).await;
    desk.read("a.txt").await;
    desk.ok("Write", write).await;
    assert_eq!(desk.text("a.txt"), "new");
}

#[tokio::test]
async fn a_text_that_is_there_once_is_replaced() {
    assert_eq!(edited("a\nb\n", "b", "x").await, (true, "a\nx\n".into()));
}

#[tokio::test]
async fn a_text_that_is_missing_ambiguous_identical_or_empty_is_refused() {
    for (old, new) in [("c", "x"), ("a", "x"), ("b", "b"), ("", "x")] {
        assert_eq!(edited("a\nb\na\n", old, new).await, (false, "a\nb\na\n".into()), "{old}");
    }
}

#[tokio::test]
async fn all_places_are_replaced_if_asked() {
    let desk = Desk::new(&[("a.txt", "a\nb\na\n")]);
    desk.read("a.txt").await;
    let mut all = json!({ "file_path": "a.txt", "old_string": "a", "new_string": "x" });
    all["replace_all"] = true.into();
    desk.ok("Edit", all).await;
    assert_eq!(desk.text("a.txt"), "x\nb\nx\n");
}

#[tokio::test]
async fn mode_bits_are_kept() {
    for mode in [0o755, 0o600, 0o444] {
        let desk = Desk::new(&[("a.txt", "one\n")]);
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(desk.path("a.txt"), permissions).unwrap();
        desk.read("a.txt").await;
        desk.edit("a.txt", "one", "two").await;
        desk.call("Write", json!({ "file_path": "a.txt", "content": "three\n" })).await;
        let found = fs::metadata(desk.path("a.txt")).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode);
    }
}

#[tokio::test]
async fn a_symbolic_link_is_kept_and_its_target_changed() {
    let desk = Desk::new(&[("dir/a.txt", "one\n")]);
    symlink("dir/a.txt", desk.path("link")).unwrap();
    desk.read("link").await;
    assert!(!desk.edit("link", "one", "two").await.is_error());
    assert!(desk.path("link").is_symlink() && desk.text("dir/a.txt") == "two\n");
}

#[tokio::test]
async fn a_hard_link_is_kept() {
    let desk = Desk::new(&[("a.txt", "one\n")]);
    fs::hard_link(desk.path("a.txt"), desk.path("b.txt")).unwrap();
    desk.read("a.txt").await;
    assert!(!desk.edit("a.txt", "one", "two").await.is_error());
    assert_eq!(desk.text("b.txt"), "two\n");
    assert_eq!(fs::metadata(desk.path("a.txt")).unwrap().nlink(), 2);
}

#[tokio::test]
async fn crlf_is_kept() {
    let expected = "a\r\nx\r\ny\r\n";
    assert_eq!(edited("a\r\nb\r\n", "a\nb\n", "a\nx\ny\n").await, (true, expected.into()));
}

#[tokio::test]
async fn an_encoding_is_kept_or_the_edit_is_refused() {
    let desk = Desk::new(&[]);
    desk.put("a.txt", b"caf\xe9, d\xe9j\xe0 vu\none\n");
    desk.read("a.txt").await;
    assert!(!desk.edit("a.txt", "one", "\u{fc}").await.is_error());
    assert_eq!(desk.bytes("a.txt"), b"caf\xe9, d\xe9j\xe0 vu\n\xfc\n");
    // Not a letter of this encoding.
    assert!(desk.edit("a.txt", "vu", "日本").await.is_error());
    assert_eq!(desk.bytes("a.txt"), b"caf\xe9, d\xe9j\xe0 vu\n\xfc\n");
}

/// A failing write is a case of `tests/file-servers`, which limits the size of files.
#[tokio::test]
async fn no_temporary_files_stay() {
    let desk = Desk::new(&[("a.txt", "one\n")]);
    desk.read("a.txt").await;
    desk.edit("a.txt", "one", "two").await;
    desk.edit("a.txt", "none", "two").await;
    assert_eq!(fs::read_dir(desk.path("")).unwrap().count(), 1);
}

#[tokio::test]
async fn undo_of_a_new_file_deletes_it_and_of_an_edit_restores_it() {
    let desk = Desk::new(&[("a.txt", "one\n")]);
    desk.ok("Write", json!({ "file_path": "new.txt", "content": "x" })).await;
    desk.ok("UndoEdit", json!({ "file_path": "new.txt" })).await;
    assert!(!desk.path("new.txt").exists());
    desk.read("a.txt").await;
    desk.edit("a.txt", "one", "two").await;
    desk.ok("UndoEdit", json!({ "file_path": "a.txt" })).await;
    assert_eq!(desk.text("a.txt"), "one\n");
}

#[tokio::test]
async fn a_patch_of_several_files_is_applied_whole_or_not_at_all() {
    let desk = Desk::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    for file in ["a.txt", "b.txt"] {
        desk.read(file).await;
    }
    let patch = |last: &str| {
        json!({ "patch": format!(
            "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: c.txt\n+new\n*** Update File: b.txt\n@@\n-{last}\n+TWO\n*** End Patch\n"
        ) })
    };
    desk.error("apply_patch", patch("three")).await;
    assert_eq!([desk.text("a.txt"), desk.text("b.txt")], ["one\n", "two\n"]);
    assert!(!desk.path("c.txt").exists());
    desk.ok("apply_patch", patch("two")).await;
    assert_eq!(
        ["a.txt", "b.txt", "c.txt"].map(|file| desk.text(file)),
        ["ONE\n", "TWO\n", "new\n"]
    );
}
