//! Entries that tools do not change: git's own, and data of the program.

use crate::support::{Folder, Tools, edit};
use serde_json::{Value, json};
use tool_runtime_builtins::Workspace;

/// A repository with a hook, a nested one, and a worktree's file.
fn repository() -> Folder {
    let folder = Folder::new();
    for name in [".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".worktrees/w/.git"] {
        folder.put(name, "mine\n");
    }
    folder.put("evil", "evil\n");
    folder.put("dir/config", "evil\n");
    folder
}

fn unread(folder: &Folder) -> Tools {
    let workspace = Workspace::builder().root(folder.path("")).unread_edits(true);
    Tools::of(workspace.build().unwrap())
}

/// A call of each tool that could change a file of git.
fn changes() -> Vec<(&'static str, Value)> {
    let patch = |text: &str| json!({ "patch": text });
    let mut calls = Vec::new();
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/hooks/new",
        ".git/new/deep",
        ".GIT/config",
        "sub/.git/config",
        ".worktrees/w/.git",
        "dir/.git",
    ] {
        calls.push(("Write", json!({ "file_path": path, "content": "evil" })));
        calls.push(("Move", json!({ "source": "evil", "destination": path })));
        let add = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n");
        calls.push(("apply_patch", patch(&add)));
    }
    for path in [".git/config", "sub/.git/config", ".worktrees/w/.git"] {
        calls.push(("Edit", edit(path, "mine", "evil")));
        calls.push(("Delete", json!({ "path": path })));
        calls.push(("Move", json!({ "source": path, "destination": "away" })));
        let replace = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-mine\n+evil\n");
        calls.push(("apply_patch", patch(&replace)));
    }
    let rename = "diff --git a/evil b/.git/new\nrename from evil\nrename to .git/new\n";
    calls.push(("apply_patch", patch(rename)));
    calls.push(("Move", json!({ "source": ".git", "destination": "away" })));
    calls.push(("Move", json!({ "source": "dir", "destination": "sub/.git/hooks" })));
    calls.push(("Move", json!({ "source": "dir", "destination": "new/.git" })));
    calls
}

#[tokio::test]
async fn files_of_git_do_not_change() {
    let folder = repository();
    let tools = unread(&folder);
    for (tool, arguments) in changes() {
        let error = tools.error(tool, arguments.clone()).await;
        let is_refused = error.contains("belongs to git") || error.contains("exists");
        assert!(is_refused, "{tool} {arguments}: {error}");
    }
    for name in [".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".worktrees/w/.git"] {
        assert_eq!(folder.text(name), "mine\n", "{name}");
    }
    assert_eq!(folder.names(), [".git", ".worktrees", "dir", "evil", "sub"]);
    assert!(!folder.path(".git/new").exists() && !folder.path("dir/.git").exists());
    // Reading is allowed.
    assert!(tools.read(".git/config").await.contains("mine"));
}

#[cfg(unix)]
#[tokio::test]
async fn links_to_files_of_git_are_files_of_git() {
    let folder = repository();
    std::os::unix::fs::symlink(".git/config", folder.path("link")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", folder.path("hooks")).unwrap();
    let tools = unread(&folder);
    for path in ["link", "hooks/new", "hooks/pre-commit"] {
        let write = json!({ "file_path": path, "content": "evil" });
        let error = tools.error("Write", write).await;
        assert!(error.contains("belongs to git"), "{error}");
    }
    assert_eq!(folder.text(".git/config"), "mine\n");
}

/// The directory of a repository has another name if a file `.git` names it.
#[cfg(all(feature = "code", unix))]
#[tokio::test]
async fn a_directory_that_a_file_of_git_names_is_one_of_git() {
    let folder = Folder::new();
    for (name, text) in
        [(".git", "gitdir: meta\n"), ("meta/config", "mine\n"), ("meta/HEAD", "x\n")]
    {
        folder.put(name, text);
    }
    let tools = unread(&folder);
    let write = json!({ "file_path": "meta/config", "content": "evil" });
    let error = tools.error("Write", write).await;
    assert!(error.contains("belongs to git"), "{error}");
    assert_eq!(folder.text("meta/config"), "mine\n");
}

#[tokio::test]
async fn files_of_git_change_if_the_operator_allows_it() {
    let folder = repository();
    let workspace = Workspace::builder().root(folder.path("")).git_settings(true);
    let tools = Tools::of(workspace.unread_edits(true).build().unwrap());
    tools.ok("Write", json!({ "file_path": ".git/config", "content": "new\n" })).await;
    assert_eq!(folder.text(".git/config"), "new\n");
}

#[tokio::test]
async fn data_of_the_program_is_neither_read_nor_changed() {
    let folder = Folder::new();
    folder.put("state/data/tasks.db", "mine\n");
    folder.put("evil", "evil\n");
    let workspace = Workspace::builder().root(folder.path("")).unread_edits(true);
    let tools = Tools::of(workspace.protect(folder.path("state/data")).build().unwrap());
    let path = "state/data/tasks.db";
    for (tool, arguments) in [
        ("Read", json!({ "file_path": path })),
        ("Write", json!({ "file_path": path, "content": "evil" })),
        ("Write", json!({ "file_path": "state/data/new", "content": "evil" })),
        ("Delete", json!({ "path": path })),
        ("Move", json!({ "source": "evil", "destination": "state/data/new" })),
        ("Move", json!({ "source": path, "destination": "away" })),
        ("Move", json!({ "source": "state", "destination": "away" })),
    ] {
        let error = tools.error(tool, arguments.clone()).await;
        assert!(error.contains("protected"), "{tool} {arguments}: {error}");
    }
    assert_eq!(folder.text(path), "mine\n");
    assert_eq!(folder.names(), ["evil", "state"]);
}
