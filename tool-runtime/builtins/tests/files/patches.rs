//! `apply_patch`.

use crate::support::{Tools, tools};
use serde_json::{Value, json};

fn patch(text: &str) -> Value {
    json!({ "patch": text })
}

#[tokio::test]
async fn several_files_are_changed_together() {
    let (folder, tools) = tools(&[("a.rs", "one\r\ntwo\r\n"), ("b.rs", "b\n"), ("c.rs", "c\n")]);
    let text = "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-two\n+three\n*** Add File: new/d.rs\n+d\n*** Delete File: b.rs\n*** Update File: c.rs\n*** Move to: e/c.rs\n@@\n-c\n+e\n*** End Patch\n";
    let value = tools.value("apply_patch", patch(text)).await;
    let files: Vec<_> = value["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["action"].as_str().unwrap()))
        .collect();
    let expected =
        [("a.rs", "updated"), ("new/d.rs", "added"), ("b.rs", "deleted"), ("c.rs", "updated")];
    assert_eq!(files, expected);
    assert_eq!(value["files"][3]["moved_to"], "e/c.rs");
    assert!(value["files"][3]["sha256"].is_string() && value["files"][2]["sha256"].is_null());
    assert_eq!(folder.text("a.rs"), "one\r\nthree\r\n");
    assert_eq!([folder.text("new/d.rs"), folder.text("e/c.rs")], ["d\n", "e\n"]);
    assert_eq!(folder.names(), ["a.rs", "e", "new"]);
}

#[tokio::test]
async fn a_hunk_without_match_changes_no_file() {
    let (folder, tools) = tools(&[("a.rs", "one\n"), ("b.rs", "x\nx\n")]);
    for (hunk, reason) in [
        ("-missing", "`b.rs`: the old text of hunk 1 is not in the file"),
        ("-x", "`b.rs`: the old text of hunk 1 is in the file 2 times, at lines 1, 2"),
    ] {
        let text = format!(
            "*** Begin Patch\n*** Add File: n/n.rs\n+n\n*** Update File: a.rs\n@@\n-one\n+two\n*** Update File: b.rs\n@@\n{hunk}\n*** End Patch\n"
        );
        let error = tools.error("apply_patch", patch(&text)).await;
        assert!(error.starts_with(&format!("nothing was changed: {reason}")), "{error}");
        assert_eq!([folder.text("a.rs"), folder.text("b.rs")], ["one\n", "x\nx\n"]);
        assert_eq!(folder.names(), ["a.rs", "b.rs"]);
    }
}

/// The last file cannot be written, since its directory is a file by then.
#[tokio::test]
async fn files_that_were_written_are_restored_when_a_later_one_fails() {
    let (folder, tools) = tools(&[("a.rs", "one\n")]);
    let text = "*** Begin Patch\n*** Update File: a.rs\n@@\n-one\n+two\n*** Add File: x\n+x\n*** Add File: x/y\n+y\n*** End Patch\n";
    tools.error("apply_patch", patch(text)).await;
    assert_eq!(folder.text("a.rs"), "one\n");
    assert_eq!(folder.names(), ["a.rs"]);
}

#[tokio::test]
async fn a_patch_is_applied_once() {
    let (_folder, tools) = tools(&[("a.rs", "fn first() {}\n")]);
    let text = patch("--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-fn first() {}\n+fn second() {}\n");
    tools.ok("apply_patch", text.clone()).await;
    let error = tools.error("apply_patch", text).await;
    let expected = "nothing was changed: `a.rs`: the old text of hunk 1 was replaced already: the new text is at line 1";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn conflicting_and_impossible_changes_are_errors() {
    let (folder, tools) = tools(&[("a", "a\n"), ("b", "b\n")]);
    let cases = [
        (
            "*** Add File: a\n+x",
            "nothing was changed: `a` exists already; update it instead of adding it",
        ),
        ("*** Delete File: c", "nothing was changed: `c` does not exist"),
        (
            "*** Update File: a\n*** Move to: b\n@@\n-a\n+x",
            "nothing was changed: `b` exists already; move to another name",
        ),
        (
            "*** Add File: d\n+x\n*** Delete File: d",
            "the patch has two sections for `d`; write one section with all of its hunks",
        ),
        (
            "*** Update File: a\n@@\n-a\n+x\n*** Update File: ./a\n@@\n-a\n+y",
            "nothing was changed: the patch has two sections for `a`; write one section with all of its hunks",
        ),
        ("", "the patch changes no file"),
        (
            "*** Add File: c\n+x\n*** Update File: a",
            "the patch has no lines for `a`; write hunks with `-` and `+`, or remove the section",
        ),
        (
            "*** Update File: a\n@@\n a",
            "nothing was changed: `a`: the old text of hunk 1 equals the new text; nothing would change",
        ),
    ];
    for (body, expected) in cases {
        let text = format!("*** Begin Patch\n{body}\n*** End Patch\n");
        assert_eq!(tools.error("apply_patch", patch(&text)).await, expected);
    }
    assert_eq!(folder.names(), ["a", "b"]);
    folder.put("a", "changed\n");
    tools.read("b").await;
    folder.put("b", "changed\n");
    let text = "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-changed\n+x\n";
    let error = tools.error("apply_patch", patch(text)).await;
    assert!(error.contains("`b` was changed since it was read"), "{error}");
}

#[tokio::test]
async fn lines_without_context_are_inserted_as_the_format_says() {
    let (folder, tools) = tools(&[("a.rs", "one\n"), ("empty.rs", "")]);
    let begin = |path: &str, lines: &str| {
        patch(&format!("*** Begin Patch\n*** Update File: {path}\n@@\n{lines}*** End Patch\n"))
    };
    let unified = |path: &str, header: &str| {
        patch(&format!("--- a/{path}\n+++ b/{path}\n{header}\n+fn new_line() {{}}\n"))
    };
    tools.ok("apply_patch", begin("a.rs", "+last\n")).await;
    assert_eq!(folder.text("a.rs"), "one\nlast\n");
    tools.ok("apply_patch", unified("a.rs", "@@ -0,0 +1 @@")).await;
    assert_eq!(folder.text("a.rs"), "fn new_line() {}\none\nlast\n");
    tools.ok("apply_patch", unified("empty.rs", "@@ -1,0 +1 @@")).await;
    assert_eq!(folder.text("empty.rs"), "fn new_line() {}\n");
    folder.put("b.rs", "one\ntwo\n");
    let error = tools.error("apply_patch", unified("b.rs", "@@ -1,0 +2 @@")).await;
    let expected = "nothing was changed: `b.rs`: the old text of hunk 1 is empty; quote the lines around the change";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn the_newline_at_the_end_is_added_and_removed_as_the_patch_says() {
    const NONE: &str = "\\ No newline at end of file\n";
    let hunks = [
        ("one\nlast\n", format!(" one\n-last\n+last\n{NONE}"), "one\nlast"),
        ("one\r\nlast", format!(" one\n-last\n{NONE}+last\n"), "one\r\nlast\r\n"),
        ("one\nlast", format!("-one\n+two\n last\n{NONE}"), "two\nlast"),
        ("one\nlast\n", format!("-one\n-last\n+two\n+last\n{NONE}"), "two\nlast"),
        ("one\nlast", format!("-last\n{NONE}"), "one\n"),
        // Lines were added to the file since.
        ("last\nmore\n", format!("-last\n+new\n{NONE}"), "new\nmore\n"),
        ("last\nmore\n", format!("-last\n{NONE}+new\n"), "new\nmore\n"),
    ];
    for (before, hunk, after) in hunks {
        let (folder, tools) = tools(&[("a", before)]);
        let text = format!("--- a/a\n+++ b/a\n@@ -1 +1 @@\n{hunk}");
        tools.ok("apply_patch", patch(&text)).await;
        assert_eq!(folder.text("a"), after, "{hunk}");
    }
}

#[tokio::test]
async fn sections_of_git_without_lines_are_refused() {
    let (folder, tools) = tools(&[("a", "a\n")]);
    let mode = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n";
    let error = tools.error("apply_patch", patch(mode)).await;
    assert!(
        error.starts_with("the patch sets the mode of a file (`diff --git a/a b/a`)"),
        "{error}"
    );
    assert!(error.ends_with("run `chmod` by a command"), "{error}");
    let binary = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n";
    let error = tools.error("apply_patch", patch(binary)).await;
    assert!(
        error.starts_with(
            "line 6 of the patch, `diff --git a/x b/x`, begins a section without lines"
        ),
        "{error}"
    );
    assert_eq!(folder.text("a"), "a\n");
}

#[cfg(unix)]
#[tokio::test]
async fn a_moved_file_stays_the_same_file() {
    use std::os::unix::fs::MetadataExt as _;
    let (folder, tools) = tools(&[("a", "a\n"), ("same", "s\n")]);
    std::fs::hard_link(folder.path("a"), folder.path("link")).unwrap();
    let inode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().ino();
    let (edited, same) = (inode("a"), inode("same"));
    let text = "diff --git a/a b/new/b\nrename from a\nrename to new/b\n--- a/a\n+++ b/new/b\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/same b/other\nrename from same\nrename to other\n";
    tools.ok("apply_patch", patch(text)).await;
    assert_eq!([folder.text("new/b"), folder.text("link")], ["b\n", "b\n"]);
    assert_eq!([inode("new/b"), inode("other")], [edited, same]);
    tools.ok("UndoEdit", json!({ "file_path": "new/b" })).await;
    assert_eq!([folder.text("new/b"), folder.text("link")], ["a\n", "a\n"]);
    assert_eq!(inode("new/b"), edited);
    assert_eq!(folder.names(), ["link", "new", "other"]);
}

#[tokio::test]
async fn no_file_is_made_executable() {
    let (folder, tools) = tools(&[]);
    let section = |name: &str, mode: &str| {
        format!(
            "diff --git a/{name} b/{name}\nnew file mode {mode}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
        )
    };
    let error = async |mode: &str| {
        let text = section("run.sh", mode) + &section("data.sh", "100644");
        tools.error("apply_patch", patch(&text)).await
    };
    let executable = error("100755").await;
    let expected = "sets the mode of a file (`diff --git a/run.sh b/run.sh`)";
    assert!(executable.contains(expected), "{executable}");
    assert!(executable.contains("run `chmod` by a command"), "{executable}");
    let link = error("120000").await;
    assert!(link.contains("a symbolic link (`diff --git a/run.sh b/run.sh`)"), "{link}");
    assert!(folder.names().is_empty());
    tools.ok("apply_patch", patch(&section("data.sh", "100644"))).await;
    assert_eq!(folder.names(), ["data.sh"]);
}

#[tokio::test]
async fn a_diff_deletes_a_file_only_if_it_has_all_of_its_text() {
    let (folder, tools) = tools(&[("a", "old\n"), ("b", "old\nmore\n"), ("c", "other\n")]);
    let delete = |name: &str| {
        let lines = "deleted file mode 100644\n--- a/NAME\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
        patch(&format!("diff --git a/NAME b/NAME\n{lines}").replace("NAME", name))
    };
    tools.ok("apply_patch", delete("a")).await;
    let error = tools.error("apply_patch", delete("b")).await;
    assert!(error.contains("`b` has text that the patch does not delete"), "{error}");
    let error = tools.error("apply_patch", delete("c")).await;
    assert!(error.contains("`c`: the old text of hunk 1 "), "{error}");
    // Without hunks, the diff is that of an empty file.
    let empty = |name: &str| patch(&format!("--- a/{name}\n+++ /dev/null\n"));
    let error = tools.error("apply_patch", empty("c")).await;
    assert!(error.contains("`c` has text that the patch does not delete"), "{error}");
    folder.put("d", "");
    tools.ok("apply_patch", empty("d")).await;
    assert_eq!(folder.names(), ["b", "c"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_with_attributes_of_the_user_keeps_them() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let (folder, tools) = tools(&[("a", "a\n")]);
    let set = setxattr(folder.path("a"), "user.origin", b"web", XattrFlags::empty());
    if set == Err(rustix::io::Errno::NOTSUP) {
        println!("the file system has no attributes of the user");
        return;
    }
    set.unwrap();
    tools.read("a").await;
    tools.edit("a", "a", "b").await;
    assert_eq!(folder.text("a"), "b\n");
    let mut value = [0; 8];
    assert_eq!(getxattr(folder.path("a"), "user.origin", &mut value), Ok(3));
}

/// The files are written before the result is examined, so it must not become an error.
#[tokio::test]
async fn long_diffs_are_left_out_of_the_result() {
    let (folder, _) = tools(&[]);
    let tools = Tools::limited(folder.path(""));
    let lines = "+0123456789 \"quoted\"\n".repeat(1_000);
    let files: String = (0..10).map(|name| format!("*** Add File: {name}\n{lines}")).collect();
    let value = tools
        .value("apply_patch", patch(&format!("*** Begin Patch\n{files}*** End Patch\n")))
        .await;
    let diff = |index: usize| value["files"][index]["diff"].as_str().unwrap();
    assert!(diff(0).contains("more lines of the diff are not shown"), "{}", diff(0));
    assert!(diff(9).starts_with("[the ") && diff(9).len() < 60, "{}", diff(9));
    assert_eq!(folder.names().len(), 10);
}

#[tokio::test]
async fn a_patch_may_be_in_a_fence_of_markdown_and_have_indented_markers() {
    for text in [
        "```diff\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-one\n+two\n```\n",
        "\n```\n--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-one\n+two\n```",
        "```diff\n*** Begin Patch\n*** Update File: a.rs\n@@\n-one\n+two\n*** End Patch\n```\n",
        "*** Begin Patch \n*** Update File: a.rs\n@@\n-one\n+two\n *** End Patch\n",
        " *** Begin Patch\n *** Update File: a.rs\n@@\n-one\n+two\n  *** End Patch",
    ] {
        let (folder, tools) = tools(&[("a.rs", "one\n")]);
        tools.value("apply_patch", patch(text)).await;
        assert_eq!(folder.text("a.rs"), "two\n", "{text}");
    }
}

#[tokio::test]
async fn a_file_that_is_deleted_and_added_has_the_new_content() {
    let (folder, tools) = tools(&[("a.rs", "old\n")]);
    let text = "*** Begin Patch\n*** Delete File: a.rs\n*** Add File: a.rs\n+new\n*** End Patch\n";
    let value = tools.value("apply_patch", patch(text)).await;
    assert_eq!(value["files"][0]["action"], "updated");
    assert_eq!(folder.text("a.rs"), "new\n");
    let missing = text.replace("a.rs", "b.rs");
    let error = tools.error("apply_patch", patch(&missing)).await;
    assert!(error.contains("`b.rs` does not exist"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_is_not_deleted_moved_or_created() {
    let (folder, tools) = tools(&[("a.rs", "one\n")]);
    std::os::unix::fs::symlink("a.rs", folder.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("dangling")).unwrap();
    for section in [
        "*** Delete File: link\n",
        "*** Delete File: link\n*** Add File: link\n+x\n",
        "*** Add File: dangling\n+x\n",
        "*** Update File: link\n*** Move to: b.rs\n@@\n-one\n+two\n",
        "*** Update File: a.rs\n*** Move to: dangling\n@@\n-one\n+two\n",
    ] {
        let text = format!("*** Begin Patch\n{section}*** End Patch\n");
        let error = tools.error("apply_patch", patch(&text)).await;
        assert!(error.contains("` is a symbolic link, which patches do not"), "{error}");
        assert_eq!(folder.names(), ["a.rs", "dangling", "link"]);
    }
    let text = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a.rs\n\\ No newline at end of file\n";
    let error = tools.error("apply_patch", patch(text)).await;
    assert!(error.contains("about a symbolic link (`diff --git a/l b/l`)"), "{error}");
    // Its content is that of the file that it leads to.
    let text = "*** Begin Patch\n*** Update File: link\n@@\n-one\n+two\n*** End Patch\n";
    tools.value("apply_patch", patch(text)).await;
    assert_eq!(folder.text("a.rs"), "two\n");
}

#[tokio::test]
async fn separators_of_records_are_parts_of_lines() {
    let (folder, tools) = tools(&[("a.txt", "a\nb\u{1c}c\nd\n")]);
    let text =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n a\n b\u{1c}c\n-d\n+e\n*** End Patch\n";
    tools.value("apply_patch", patch(text)).await;
    assert_eq!(folder.text("a.txt"), "a\nb\u{1c}c\ne\n");
}

/// A call has a limit on its time, which a search through the whole file for each hunk would exceed.
#[tokio::test]
async fn a_patch_may_have_ten_thousand_hunks() {
    let numbers = 0..10_000;
    let block = |n| format!("fn f{n}() {{\n    old({n});\n    again();\n}}\n");
    let content: String = numbers.clone().map(block).collect();
    let (folder, tools) = tools(&[("a.rs", &content)]);
    let hunk = |n| format!("@@ fn f{n}() {{\n-    old({n});\n+    new({n});\n     again();\n");
    let hunks: String = numbers.map(hunk).collect();
    let text = format!("*** Begin Patch\n*** Update File: a.rs\n{hunks}*** End Patch\n");
    tools.value("apply_patch", patch(&text)).await;
    assert_eq!(folder.text("a.rs"), content.replace("old", "new"));
}
