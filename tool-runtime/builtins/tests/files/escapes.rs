//! Paths and links that lead out of the root.
#![cfg(unix)]

use crate::support::{Folder, Tools, edit};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A root beside a secret, with links that lead to it.
fn folder() -> (Folder, Tools) {
    let folder = Folder::new();
    folder.put("secret", "secret\n");
    folder.put("out/secret", "secret\n");
    folder.put("root/inner/a.txt", "a\n");
    let absolute = folder.path("");
    symlink("../secret", folder.path("root/link")).unwrap();
    symlink("../out", folder.path("root/dir")).unwrap();
    symlink(absolute.join("secret"), folder.path("root/absolute")).unwrap();
    symlink(absolute.join("out"), folder.path("root/absolute_dir")).unwrap();
    symlink("link", folder.path("root/chain")).unwrap();
    symlink("inner/../../secret", folder.path("root/climbing")).unwrap();
    symlink("loop", folder.path("root/loop")).unwrap();
    symlink("../created", folder.path("root/dangling")).unwrap();
    let tools = Tools::over(folder.path("root"));
    (folder, tools)
}

/// A call of every tool with a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let patch =
        |body: String| json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch\n") });
    vec![
        ("Read", json!({ "file_path": path })),
        ("Write", json!({ "file_path": path, "content": "x" })),
        ("Edit", edit(path, "secret", "x")),
        ("Edit", edit(path, "", "x")),
        (
            "MultiEdit",
            json!({ "file_path": path, "edits": [{"old_string": "secret", "new_string": "x"}] }),
        ),
        ("apply_patch", patch(format!("*** Update File: {path}\n@@\n-secret\n+x"))),
        ("apply_patch", patch(format!("*** Add File: {path}\n+x"))),
        (
            "apply_patch",
            patch(format!("*** Update File: inner/a.txt\n*** Move to: {path}\n@@\n-a\n+x")),
        ),
        ("UndoEdit", json!({ "file_path": path })),
        ("file_editor", json!({ "command": "view", "path": path })),
        (
            "file_editor",
            json!({ "command": "str_replace", "path": path, "old_str": "secret", "new_str": "x" }),
        ),
        ("file_editor", json!({ "command": "create", "path": path, "file_text": "x" })),
        (
            "file_editor",
            json!({ "command": "insert", "path": path, "insert_line": 0, "new_str": "x" }),
        ),
        ("ListDirectory", json!({ "path": path })),
    ]
}

fn assert_untouched(folder: &Folder) {
    assert_eq!(folder.names(), ["out", "root", "secret"]);
    assert_eq!(folder.text("secret"), "secret\n");
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 1);
    assert_eq!(folder.text("out/secret"), "secret\n");
    assert_eq!(folder.text("root/inner/a.txt"), "a\n");
}

#[tokio::test]
async fn no_tool_leaves_the_root() {
    let (folder, tools) = folder();
    let absolute = folder.path("secret").display().to_string();
    let climbing = folder.path("root/../secret").display().to_string();
    let paths = [
        "link",
        "dir/secret",
        "dir/new",
        "dir",
        "absolute",
        "absolute_dir/secret",
        "absolute_dir/new",
        "chain",
        "climbing",
        "loop",
        "dangling",
        "../secret",
        "inner/../../secret",
        "dir/../../secret",
        "dir/../secret",
        &absolute,
        &climbing,
        "/etc/hostname",
        "/proc/self/root/etc/hostname",
    ];
    for path in paths {
        for (tool, arguments) in calls(path) {
            let error = tools.error(tool, arguments).await;
            assert!(!error.contains("secret\n"), "{tool} {path}: {error}");
            assert_untouched(&folder);
        }
    }
}

#[tokio::test]
async fn entries_outside_are_neither_moved_nor_deleted() {
    let (folder, tools) = folder();
    for path in ["dir/secret", "../secret", "absolute_dir/secret"] {
        tools.error("Delete", json!({ "path": path })).await;
        tools.error("Move", json!({ "source": path, "destination": "stolen" })).await;
        tools.error("Move", json!({ "source": "inner/a.txt", "destination": path })).await;
    }
    tools.error("Move", json!({"source": "inner/a.txt", "destination": "dir/b"})).await;
    assert_untouched(&folder);
    // A link itself is an entry of the root.
    tools.ok("Delete", json!({"path": "link"})).await;
    assert_untouched(&folder);
}

/// A directory and a link out of the root change places all the time, each by one operation.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_are_swapped_during_calls_lead_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let folder = Folder::new();
    folder.put("out/a.txt", "secret\n");
    folder.put("root/current/a.txt", "inside\n");
    symlink("../out", folder.path("root/evil")).unwrap();
    let tools = Tools::over(folder.path("root"));
    let is_done = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (root, is_done) = (folder.path("root"), Arc::clone(&is_done));
        std::thread::spawn(move || {
            let (current, evil) = (root.join("current"), root.join("evil"));
            while !is_done.load(Ordering::Relaxed) {
                renameat_with(CWD, &current, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
            }
        })
    };
    for number in 0..300 {
        let path = "current/a.txt";
        let read = tools.call("Read", json!({ "file_path": path })).await;
        assert!(!read.observation().to_text().contains("secret"));
        tools.call("Edit", edit(path, "inside", &format!("inside {number}"))).await;
        let new = format!("current/{number}/b");
        tools.call("Write", json!({ "file_path": new, "content": "x" })).await;
        tools.call("Delete", json!({ "path": path })).await;
        tools.call("UndoEdit", json!({ "file_path": path })).await;
        tools.call("Move", json!({ "source": path, "destination": new })).await;
    }
    is_done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(folder.text("out/a.txt"), "secret\n");
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 1);
}
