//! Paths and links that lead out of the root.
#![cfg(unix)]

use crate::support::{Folder, Tools, edit};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
#[cfg(target_os = "linux")]
use std::{
    path::PathBuf,
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering},
    thread::JoinHandle,
};

/// A root next to a secret, with links that lead to it.
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

/// Exchanges two names of a directory all the time, each time by one operation.
#[cfg(target_os = "linux")]
fn swap(root: PathBuf, names: [&'static str; 2], is_done: Arc<AtomicBool>) -> JoinHandle<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    std::thread::spawn(move || {
        let [one, other] = names.map(|name| root.join(name));
        while !is_done.load(Ordering::Relaxed) {
            // A tool may have moved or deleted one.
            let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        }
    })
}

/// A directory, a file and an absolute link, each of which is swapped with a link out of the root.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_are_swapped_during_calls_lead_nowhere() {
    let folder = Folder::new();
    folder.put("out/a.txt", "secret\n");
    folder.put("root/current/a.txt", "inside\n");
    folder.put("root/file", "inside\n");
    symlink("../out", folder.path("root/evil")).unwrap();
    symlink("../out/a.txt", folder.path("root/evil_file")).unwrap();
    symlink(folder.path("root/current"), folder.path("root/via")).unwrap();
    symlink(folder.path("out"), folder.path("root/evil_via")).unwrap();
    let tools = Tools::over(folder.path("root"));
    let is_done = Arc::new(AtomicBool::new(false));
    let pairs = [["current", "evil"], ["file", "evil_file"], ["via", "evil_via"]];
    let swappers = pairs.map(|names| swap(folder.path("root"), names, Arc::clone(&is_done)));
    for number in 0..100 {
        for path in ["current/a.txt", "file", "via/a.txt"] {
            let read = tools.call("Read", json!({ "file_path": path })).await;
            assert!(!read.observation().to_text().contains("secret"));
            tools.call("Edit", edit(path, "inside", &format!("inside {number}"))).await;
            let new = format!("{}/{number}/b", path.trim_end_matches("/a.txt"));
            tools.call("Write", json!({ "file_path": path, "content": "inside\n" })).await;
            tools.call("Write", json!({ "file_path": new, "content": "x" })).await;
            tools.call("Move", json!({ "source": path, "destination": new })).await;
            tools.call("UndoEdit", json!({ "file_path": new })).await;
            tools.call("Delete", json!({ "path": path })).await;
            tools.call("UndoEdit", json!({ "file_path": path })).await;
        }
    }
    is_done.store(true, Ordering::Relaxed);
    for swapper in swappers {
        swapper.join().unwrap();
    }
    assert_eq!(folder.text("out/a.txt"), "secret\n");
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 1);
    assert_eq!(folder.names(), ["out", "root"]);
}

#[tokio::test]
async fn directories_behind_absolute_links_are_used_inside_of_the_root() {
    let (folder, tools) = crate::support::tools(&[("dir/a.txt", "one\n")]);
    symlink(folder.path("dir"), folder.path("link")).unwrap();
    tools.edit("link/a.txt", "one", "two").await;
    tools.ok("Write", json!({ "file_path": "link/new/b.txt", "content": "x" })).await;
    tools.ok("Move", json!({ "source": "link/a.txt", "destination": "link/c.txt" })).await;
    let list = tools.ok("ListDirectory", json!({ "path": "link" })).await;
    assert_eq!(list, "c.txt (4 bytes)\nnew/\n");
    tools.ok("Delete", json!({ "path": "link/c.txt" })).await;
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.text("dir/new/b.txt"), "x");
}
