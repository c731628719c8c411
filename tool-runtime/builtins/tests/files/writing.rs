//! `Write`, `Edit` and `MultiEdit`.

use crate::support::{Folder, Tools, edit, tools};
use serde_json::{Value, json};
use std::fs;
use tool_runtime_builtins::Workspace;

fn write(path: &str, content: &str) -> Value {
    json!({ "file_path": path, "content": content })
}

#[tokio::test]
async fn new_files_get_their_directories() {
    let (folder, tools) = tools(&[]);
    let value = tools.value("Write", write("a/b/c.txt", "x\n")).await;
    assert_eq!(folder.text("a/b/c.txt"), "x\n");
    assert_eq!(value["created"], true);
    assert_eq!(value["diff"], "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1 @@\n+x\n");
}

#[tokio::test]
async fn a_file_must_be_read_before_it_is_changed() {
    let (folder, tools) = tools(&[("a.txt", "one\n")]);
    let unread = "`a.txt` was not read yet; read it first, so that the change fits its content";
    assert_eq!(tools.error("Write", write("a.txt", "x")).await, unread);
    assert_eq!(tools.error("Edit", edit("a.txt", "one", "two")).await, unread);
    tools.read("a.txt").await;
    folder.put("a.txt", "one!\n");
    let changed = "`a.txt` was changed since it was read; read it again, then repeat the change";
    assert_eq!(tools.error("Edit", edit("a.txt", "one", "two")).await, changed);
    assert_eq!(tools.error("Write", write("a.txt", "x")).await, changed);
    tools.edit("a.txt", "one", "two").await;
    // A file that the model wrote counts as read.
    tools.ok("Write", write("a.txt", "three\n")).await;
    assert_eq!(folder.text("a.txt"), "three\n");
}

#[tokio::test]
async fn mistakes_of_edits_are_explained_and_change_nothing() {
    let content = "fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n";
    let (folder, tools) = tools(&[("a.rs", content)]);
    tools.read("a.rs").await;
    let cases = [
        (
            ("x();", "y();"),
            "`a.rs`: `old_string` is in the file 2 times, at lines 2, 6; quote more of the lines around the one you mean",
        ),
        (("x();", "x();"), "`a.rs`: `old_string` equals the new text; nothing would change"),
        (("", "y"), "`a.rs`: `old_string` is empty; quote the lines around the change"),
    ];
    for ((old, new), expected) in cases {
        assert_eq!(tools.error("Edit", edit("a.rs", old, new)).await, expected);
    }
    let error = tools.error("Edit", edit("a.rs", "fn a() {\n    z();\n}", "y")).await;
    assert!(
        error.contains("first differ at line 2: the file has `    x();`, not `    z();`"),
        "{error}"
    );
    let error = tools.error("Edit", edit("missing.rs", "x", "y")).await;
    assert_eq!(error, "`missing.rs` does not exist");
    assert_eq!(folder.text("a.rs"), content);
    let mut all = edit("a.rs", "x();", "y();");
    all["replace_all"] = true.into();
    let value = tools.value("Edit", all).await;
    assert_eq!([&value["replacements"], &value["matched_with"]], [&json!(2), &json!("exact")]);
    assert_eq!(folder.text("a.rs"), content.replace("x()", "y()"));
}

#[tokio::test]
async fn the_step_that_found_the_text_is_named() {
    let (folder, tools) = tools(&[("a.py", "class A:\n    def f(self):\n        return “x”\n")]);
    tools.read("a.py").await;
    let value = tools
        .value("Edit", edit("a.py", "def f(self):\n    return \"x\"", "def f(self):\n    return 1"))
        .await;
    assert_eq!(value["matched_with"], "typographic_characters");
    assert_eq!(folder.text("a.py"), "class A:\n    def f(self):\n        return 1\n");
}

#[tokio::test]
async fn several_edits_are_made_together_or_not_at_all() {
    let (folder, tools) = tools(&[("a.txt", "one two\n")]);
    tools.read("a.txt").await;
    let edits = |last: &str| {
        json!({"file_path": "a.txt", "edits": [
            {"old_string": "one", "new_string": "three"},
            {"old_string": last, "new_string": "four"},
        ]})
    };
    let error = tools.error("MultiEdit", edits("five")).await;
    assert!(
        error
            .starts_with("`a.txt`: nothing was changed: `old_string` of edit 2 is not in the file"),
        "{error}"
    );
    assert_eq!(folder.text("a.txt"), "one two\n");
    tools.ok("MultiEdit", edits("three two")).await;
    assert_eq!(folder.text("a.txt"), "four\n");
    let new = json!({"file_path": "n", "edits": [
        {"old_string": "", "new_string": "a"}, {"old_string": "a", "new_string": "b"},
    ]});
    tools.ok("MultiEdit", new).await;
    assert_eq!(folder.text("n"), "b");
}

#[tokio::test]
async fn encoding_mark_and_line_endings_are_kept() {
    let folder = Folder::new();
    let tools = Tools::over(folder.path(""));
    let cases: [(&[u8], &[u8]); 4] = [
        (b"\xEF\xBB\xBFold\r\nb\r\n", b"\xEF\xBB\xBFn\r\new\r\nb\r\n"),
        (b"d\xE9j\xE0 vu, old caf\xE9\n", b"d\xE9j\xE0 vu, n\new caf\xE9\n"),
        (b"\xFE\xFF\0o\0l\0d", b"\xFE\xFF\0n\0\n\0e\0w"),
        (b"\xFF\xFEo\0l\0d\0\r\0\n\0", b"\xFF\xFEn\0\r\0\n\0e\0w\0\r\0\n\0"),
    ];
    for (before, after) in cases {
        folder.put("a.txt", before);
        tools.edit("a.txt", "old", "n\new").await;
        assert_eq!(folder.get("a.txt"), after);
    }
    folder.put("a.txt", b"\xEF\xBB\xBFold\r\n");
    tools.read("a.txt").await;
    tools.ok("Write", write("a.txt", "x\ny\n")).await;
    assert_eq!(folder.get("a.txt"), b"\xEF\xBB\xBFx\r\ny\r\n");
}

#[tokio::test]
async fn characters_that_the_encoding_lacks_are_refused() {
    let folder = Folder::new();
    let tools = Tools::over(folder.path(""));
    let bytes = b"caf\xE9, d\xE9j\xE0 vu\n";
    folder.put("a.txt", bytes);
    tools.read("a.txt").await;
    let expected =
        "`a.txt` is encoded in windows-1252, which lacks `→`; write it without this character";
    assert_eq!(tools.error("Edit", edit("a.txt", "vu", "→")).await, expected);
    assert_eq!(tools.error("Write", write("a.txt", "→")).await, expected);
    assert_eq!(folder.get("a.txt"), bytes);
    assert_eq!(folder.names(), ["a.txt"]);
}

#[tokio::test]
async fn binary_files_are_not_edited() {
    let folder = Folder::new();
    let tools = Tools::over(folder.path(""));
    folder.put("a.bin", b"a\0b");
    let error = tools
        .error(
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Update File: a.bin\n@@\n-a\n+b\n*** End Patch"}),
        )
        .await;
    assert_eq!(error, "nothing was changed: `a.bin` is not text");
    let expected =
        "`a.bin` is not text, and is not changed as text; to replace it, delete it first";
    assert_eq!(tools.error("Write", write("a.bin", "x")).await, expected);
    assert_eq!(tools.error("Edit", edit("a.bin", "a", "x")).await, expected);
    tools.ok("Delete", json!({ "path": "a.bin" })).await;
    tools.ok("Write", write("a.bin", "x")).await;
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    #[tokio::test]
    async fn permissions_are_kept() {
        let (folder, tools) = tools(&[("run.sh", "old\n")]);
        for mode in [0o755, 0o600, 0o444] {
            let path = folder.put("new.sh", "old\n");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            tools.edit("new.sh", "old", "new").await;
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
            assert_eq!(folder.text("new.sh"), "new\n");
            fs::remove_file(path).unwrap();
        }
    }

    #[tokio::test]
    async fn links_stay_links() {
        let (folder, tools) = tools(&[("dir/target", "old\n")]);
        symlink("dir/target", folder.path("link")).unwrap();
        symlink(folder.path("link"), folder.path("absolute")).unwrap();
        tools.edit("link", "old", "new").await;
        assert!(folder.path("link").is_symlink());
        assert_eq!(folder.text("dir/target"), "new\n");
        // It is one file by every name.
        tools.ok("Edit", edit("absolute", "new", "newer")).await;
        assert_eq!(folder.text("dir/target"), "newer\n");
        symlink("dir/created", folder.path("dangling")).unwrap();
        tools.ok("Write", write("dangling", "x")).await;
        assert_eq!(folder.text("dir/created"), "x");
        assert!(folder.path("dangling").is_symlink());
    }

    #[tokio::test]
    async fn hard_links_stay_linked() {
        let (folder, tools) = tools(&[("a", "old, longer\n")]);
        fs::hard_link(folder.path("a"), folder.path("b")).unwrap();
        let text = tools.edit("a", "old, longer", "new").await;
        assert_eq!(folder.text("b"), "new\n");
        let notice = "[`a` was written in place, which is not atomic, since it has several names, by hard links; its old content is in `";
        let (_, saved) = text.split_once(notice).expect(&text);
        let saved = std::path::Path::new(saved.strip_suffix("`]").unwrap());
        assert_eq!(fs::read_to_string(saved).unwrap(), "old, longer\n");
        assert_eq!(fs::metadata(saved).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(saved).unwrap();
        assert_eq!(fs::metadata(folder.path("a")).unwrap().nlink(), 2);
        assert_eq!(folder.names(), ["a", "b"]);
    }

    #[tokio::test]
    async fn ten_copies_of_a_file_that_is_written_in_place_are_kept() {
        let (folder, tools) = tools(&[("a", "0\n")]);
        fs::hard_link(folder.path("a"), folder.path("b")).unwrap();
        let mut saved = Vec::new();
        for number in 0..12 {
            let text = tools.edit("a", &number.to_string(), &(number + 1).to_string()).await;
            let (_, path) = text.split_once("its old content is in `").unwrap();
            saved.push(path.strip_suffix("`]").unwrap().to_owned());
        }
        let kept: Vec<_> = saved.iter().filter(|path| fs::exists(path).unwrap()).collect();
        assert_eq!(kept, saved[2..].iter().collect::<Vec<_>>());
        kept.into_iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[tokio::test]
    async fn a_file_in_a_directory_that_cannot_be_written_is_written_in_place() {
        let (folder, tools) = tools(&[("dir/a", "old\n")]);
        tools.read("dir/a").await;
        fs::set_permissions(folder.path("dir"), fs::Permissions::from_mode(0o555)).unwrap();
        let result = tools.call("Edit", edit("dir/a", "old", "new")).await;
        fs::set_permissions(folder.path("dir"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(folder.text("dir/a"), "new\n");
        let text = result.observation().to_text();
        // A superuser may write everywhere.
        if let Some((_, saved)) = text.split_once("its old content is in `") {
            let saved = saved.strip_suffix("`]").unwrap();
            assert_eq!(fs::read_to_string(saved).unwrap(), "old\n");
            fs::remove_file(saved).unwrap();
        }
    }
}

#[tokio::test]
async fn no_temporary_files_stay() {
    let (folder, tools) = tools(&[("a.txt", "old\n")]);
    tools.edit("a.txt", "old", "new").await;
    tools.ok("Write", write("b.txt", "x")).await;
    assert_eq!(folder.names(), ["a.txt", "b.txt"]);
}

#[tokio::test]
async fn what_one_caller_has_read_another_has_not() {
    let (folder, tools) = tools(&[("a.txt", "one\n")]);
    let [ada, bob] = ["ada", "bob"].map(|name| {
        crate::support::Tools(tools.0.for_principal(tool_runtime::Principal::new(name)))
    });
    let write = |content: &str| json!({ "file_path": "a.txt", "content": content });
    ada.read("a.txt").await;
    let error = bob.error("Write", write("bob\n")).await;
    assert!(error.starts_with("`a.txt` was not read yet"), "{error}");
    bob.read("a.txt").await;
    bob.ok("Write", write("bob\n")).await;
    let error = ada.error("Write", write("ada\n")).await;
    assert!(error.starts_with("`a.txt` was changed since it was read"), "{error}");
    assert_eq!(folder.text("a.txt"), "bob\n");
    bob.ok("Write", write("bob again\n")).await;
    ada.read("a.txt").await;
    ada.ok("Write", write("ada\n")).await;
}

/// Lines with their numbers.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn a_file_is_replaced_after_all_of_its_lines_were_read() {
    let (folder, tools) = tools(&[("a.txt", &numbered(5000))]);
    let read = |offset: i64, limit: usize| json!({ "file_path": "a.txt", "offset": offset, "limit": limit });
    let unread = |part: &str, offset: &str| {
        format!(
            "`a.txt` would be replaced, and lines {part} were not read; read them with offset {offset}, or change lines that were read by `Edit`"
        )
    };
    tools.ok("Read", read(1, 10)).await;
    let error = tools.error("Write", write("a.txt", "short\n")).await;
    assert_eq!(error, unread("11 to 5000", "11 and limit 4990"));
    // Lines that the model changes are lines that it knows; the others stay unread.
    tools.ok("Edit", edit("a.txt", "10\n11\n", "ten\n")).await;
    let error = tools.error("Write", write("a.txt", "short\n")).await;
    assert_eq!(error, unread("10 to 10", "10 and limit 1"));
    tools.ok("Edit", edit("a.txt", "1\n2\n", "one\n")).await;
    tools.ok("UndoEdit", json!({ "file_path": "a.txt" })).await;
    // Parts add up, also from the end.
    tools.ok("Read", read(8, 2000)).await;
    tools.ok("Read", read(-1500, 1500)).await;
    let error = tools.error("Write", write("a.txt", "short\n")).await;
    assert_eq!(error, unread("2008 to 3499", "2008 and limit 1492"));
    tools.ok("Read", read(2008, 2000)).await;
    tools.ok("Write", write("a.txt", "short\n")).await;
    tools.ok("Write", write("a.txt", "shorter\n")).await;
    assert_eq!(folder.text("a.txt"), "shorter\n");
}

#[tokio::test]
async fn a_file_is_not_replaced_if_a_line_was_cut_when_it_was_read() {
    let (folder, tools) = tools(&[("a.json", &format!("short\n{}\n", "x".repeat(2001)))]);
    tools.read("a.json").await;
    let error = tools.error("Write", write("a.json", "{}\n")).await;
    assert_eq!(
        error,
        "`a.json` would be replaced, and line 2 is longer than the 2000 characters that are read of it; change it by `Edit` or a command, or delete the file first"
    );
    tools.ok("Delete", json!({ "path": "a.json" })).await;
    tools.ok("Write", write("a.json", &"y".repeat(3000))).await;
    tools.ok("Write", write("a.json", "{}\n")).await;
    assert_eq!(folder.text("a.json"), "{}\n");
}

#[tokio::test]
async fn an_option_lets_files_be_replaced_that_were_read_in_part() {
    let folder = Folder::new();
    folder.put("a.txt", numbered(50));
    let workspace = Workspace::builder().root(folder.path("")).partial_overwrites(true);
    let tools = Tools::of(workspace.build().unwrap());
    let error = tools.error("Write", write("a.txt", "x")).await;
    assert!(error.starts_with("`a.txt` was not read yet"), "{error}");
    tools.ok("Read", json!({ "file_path": "a.txt", "limit": 1 })).await;
    tools.ok("Write", write("a.txt", "x")).await;
    assert_eq!(folder.text("a.txt"), "x");
}
