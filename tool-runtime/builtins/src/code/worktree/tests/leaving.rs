//! `ExitWorktree`.

use super::{Fixture, commit};
use serde_json::json;
use std::fs;
use std::path::Path;

#[tokio::test]
async fn a_worktree_without_work_is_removed_with_its_branch() {
    let fixture = Fixture::new();
    let commit = fixture.git(&["rev-parse", "HEAD"]);
    fixture.enter("w").await.unwrap();
    let value = fixture.exit("w", "remove", false).await.unwrap();
    assert_eq!(
        value,
        json!({"name": "w", "action": "remove", "path": ".worktrees/w", "branch": "w", "commit": commit,
               "branch_deleted": true, "changed_files": 0, "untracked_files": 0, "unmerged_commits": 0, "submodules": 0})
    );
    assert!(!fixture.tree("w").exists());
    assert_eq!(fixture.branches(), ["main"]);
    assert_eq!(
        fixture.exit("w", "remove", false).await.unwrap_err(),
        "there is no worktree `w`; create one by `EnterWorktree`"
    );
    fixture.enter("v").await.unwrap();
    let error = fixture.exit("w", "keep", false).await.unwrap_err();
    assert_eq!(error, "there is no worktree `w`; there is `v`");
}

#[tokio::test]
async fn work_that_is_nowhere_else_is_listed_and_not_removed() {
    let fixture = Fixture::new();
    fixture.enter("w").await.unwrap();
    let tree = fixture.tree("w");
    fs::write(tree.join("b.txt"), "b").unwrap();
    commit(&tree, "add b");
    let head = super::git(&tree, &["rev-parse", "--short", "HEAD"]);
    fs::write(tree.join("a.txt"), "changed").unwrap();
    fs::create_dir(tree.join("dir")).unwrap();
    fs::write(tree.join("dir/new ä.txt"), "new").unwrap();
    let expected = format!(
        "removing the worktree `w` would destroy work, so nothing was removed\n\
         1 changed files that are not committed:\n  a.txt\n\
         1 files that git does not track:\n  dir/new ä.txt\n\
         1 commits that are not on another branch:\n  {head} add b\n\
         commit and merge it, keep the worktree by `action` `keep`, or set `discard_changes` if all of this may be lost"
    );
    assert_eq!(fixture.exit("w", "remove", false).await.unwrap_err(), expected);
    assert_eq!(fs::read_to_string(tree.join("dir/new ä.txt")).unwrap(), "new");
    let kept = fixture.exit("w", "keep", false).await.unwrap();
    let counts =
        ["changed_files", "untracked_files", "unmerged_commits"].map(|key| kept[key].clone());
    assert_eq!(counts, [json!(1), json!(1), json!(1)]);
    let removed = fixture.exit("w", "remove", true).await.unwrap();
    assert_eq!(removed["branch_deleted"], true);
    assert!(!tree.exists() && fixture.branches() == ["main"]);
    // The deleted branch can be created again.
    fixture.git(&["branch", "w", removed["commit"].as_str().unwrap()]);
}

#[tokio::test]
async fn commits_on_other_branches_and_tags_are_not_lost() {
    let fixture = Fixture::new();
    for (name, keep) in [("w1", ["branch", "other", "w1"]), ("w2", ["tag", "v1", "w2"])] {
        fixture.enter(name).await.unwrap();
        fs::write(fixture.tree(name).join(name), "b").unwrap();
        commit(&fixture.tree(name), "add");
        fixture.exit(name, "remove", false).await.unwrap_err();
        fixture.git(&keep);
        fixture.exit(name, "remove", false).await.unwrap();
    }
    assert_eq!(fixture.branches(), ["main", "other"]);
}

/// Commands may do anything in a worktree: commits without a branch count, and other branches stay.
#[tokio::test]
async fn commits_without_a_branch_are_work_and_other_branches_stay() {
    let fixture = Fixture::new();
    fixture.enter("w").await.unwrap();
    let tree = fixture.tree("w");
    super::git(&tree, &["checkout", "--quiet", "--detach"]);
    fs::write(tree.join("b.txt"), "b").unwrap();
    commit(&tree, "loose");
    let error = fixture.exit("w", "remove", false).await.unwrap_err();
    assert!(error.contains("loose"), "{error}");
    super::git(&tree, &["checkout", "--quiet", "-b", "named"]);
    let value = fixture.exit("w", "remove", false).await.unwrap();
    assert_eq!([&value["branch"], &value["branch_deleted"]], [&json!("named"), &json!(true)]);
    assert_eq!(fixture.branches(), ["main", "named"]);
}

#[tokio::test]
async fn a_worktree_whose_directory_is_gone_can_be_removed() {
    let fixture = Fixture::new();
    fixture.enter("w").await.unwrap();
    fs::remove_dir_all(fixture.tree("w")).unwrap();
    assert_eq!(
        fixture.enter("w").await.unwrap_err(),
        "the directory of the worktree `w` is gone; remove the worktree by `ExitWorktree` first"
    );
    fixture.exit("w", "remove", false).await.unwrap();
    assert_eq!(fixture.branches(), ["main"]);
    fixture.enter("w").await.unwrap();
}

/// A lock keeps a worktree whose directory may come back, as that of a disk.
#[tokio::test]
async fn a_locked_worktree_stays_and_the_error_says_how_it_is_unlocked() {
    let fixture = Fixture::new();
    fixture.enter("w").await.unwrap();
    let tree = fixture.tree("w");
    fixture.git(&["worktree", "lock", "--reason", "in use", tree.to_str().unwrap()]);
    let unlock = format!("run `git worktree unlock {}`", tree.display());
    for discards in [false, true] {
        let error = fixture.exit("w", "remove", discards).await.unwrap_err();
        assert!(
            error.contains("`w` is locked (\"in use\"); ") && error.contains(&unlock),
            "{error}"
        );
    }
    fixture.exit("w", "keep", false).await.unwrap();
    fs::remove_dir_all(&tree).unwrap();
    for error in [fixture.enter("w").await, fixture.exit("w", "remove", true).await] {
        let error = error.unwrap_err();
        assert!(error.contains("its directory is gone") && error.contains(&unlock), "{error}");
    }
    fixture.git(&["worktree", "unlock", tree.to_str().unwrap()]);
    fixture.exit("w", "remove", false).await.unwrap();
    assert_eq!(fixture.branches(), ["main"]);
    fixture.enter("w").await.unwrap();
}

#[tokio::test]
async fn changes_that_git_was_told_to_ignore_are_work() {
    let fixture = Fixture::new();
    for (name, flag) in [("w1", "--assume-unchanged"), ("w2", "--skip-worktree")] {
        fixture.enter(name).await.unwrap();
        let tree = fixture.tree(name);
        super::git(&tree, &["update-index", flag, "a.txt"]);
        fs::write(tree.join("a.txt"), "changed").unwrap();
        assert_eq!(super::git(&tree, &["status", "--porcelain"]), "");
        let error = fixture.exit(name, "remove", false).await.unwrap_err();
        assert!(error.contains("1 files whose changes git does not report"), "{error}");
        assert!(error.contains("\n  a.txt\n"), "{error}");
        assert_eq!(fixture.exit(name, "keep", false).await.unwrap()["changed_files"], 1);
        // Deleted, as what a sparse checkout leaves out.
        fs::remove_file(tree.join("a.txt")).unwrap();
        fixture.exit(name, "remove", false).await.unwrap();
    }
}

#[tokio::test]
async fn files_that_git_ignores_go_with_their_worktree() {
    let fixture = Fixture::new();
    fs::write(fixture.path(".gitignore"), "*.o\n").unwrap();
    commit(&fixture.path(""), "ignore");
    fixture.enter("w").await.unwrap();
    fs::write(fixture.tree("w").join("a.o"), "").unwrap();
    fixture.exit("w", "remove", false).await.unwrap();
}

/// A setting that hides files that are not tracked does not hide them from us.
#[tokio::test]
async fn settings_of_the_repository_hide_no_work() {
    let fixture = Fixture::new();
    fixture.git(&["config", "status.showUntrackedFiles", "no"]);
    fixture.enter("w").await.unwrap();
    fs::write(fixture.tree("w").join("new"), "").unwrap();
    let error = fixture.exit("w", "remove", false).await.unwrap_err();
    assert!(error.contains("1 files that git does not track:\n  new\n"), "{error}");
}

#[tokio::test]
async fn repositories_of_submodules_are_listed_and_not_removed() {
    let fixture = Fixture::new();
    let other = fixture.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    super::git(&other, &["init", "--quiet"]);
    commit_file(&other, "x");
    let local = ["-c", "protocol.file.allow=always", "submodule"];
    let add = ["--quiet", "add", other.to_str().unwrap(), "sub"];
    fixture.git(&[&local[..], &add].concat());
    commit(&fixture.path(""), "add a submodule");
    fixture.enter("w").await.unwrap();
    let tree = fixture.tree("w");
    super::git(&tree, &[&local[..], &["--quiet", "update", "--init"]].concat());
    commit_file(&tree.join("sub"), "work");
    let error = fixture.exit("w", "remove", false).await.unwrap_err();
    assert!(error.contains("1 submodules, whose own changes"), "{error}");
    assert!(error.contains("\n  sub\n"), "{error}");
    assert!(tree.join("sub/work").exists());
    let removed = fixture.exit("w", "remove", true).await.unwrap();
    assert_eq!(removed["submodules"], 1);
    assert!(!tree.exists());
}

fn commit_file(directory: &Path, name: &str) {
    fs::write(directory.join(name), name).unwrap();
    commit(directory, name);
}
