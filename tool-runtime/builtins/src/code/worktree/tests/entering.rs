//! `EnterWorktree`.

use super::{Fixture, commit, pool};
use crate::code::worktree::name;
use crate::code::{CodeParams, WorktreeParams};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::process::Command;

#[tokio::test]
async fn a_worktree_has_a_branch_and_disturbs_nothing() {
    let fixture = Fixture::new();
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let value = fixture.enter("fix-1").await.unwrap();
    let path = fixture.tree("fix-1");
    assert_eq!(
        value,
        json!({"name": "fix-1", "path": ".worktrees/fix-1", "absolute_path": path.to_str().unwrap(),
               "branch": "fix-1", "commit": head, "base_commit": head, "created": true})
    );
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "one\n");
    assert_eq!(super::git(&path, &["branch", "--show-current"]), "fix-1");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    // A second stay has the work of the first one.
    fs::write(path.join("new.txt"), "x").unwrap();
    let again = fixture.enter("fix-1").await.unwrap();
    assert_eq!([&again["created"], &again["branch"]], [&json!(false), &json!("fix-1")]);
    assert!(path.join("new.txt").exists());
}

/// Searches of the root skip worktrees, and searches of a worktree do not.
#[cfg(feature = "search")]
#[tokio::test]
async fn searches_of_the_root_skip_worktrees() {
    let fixture = Fixture::new();
    fixture.enter("w").await.unwrap();
    let paths = async |path: &str, hidden: bool| {
        let arguments = json!({"pattern": "one", "path": path, "hidden": hidden});
        let result = fixture.pool.call(tool_runtime::ToolCall::json("Grep", arguments)).await;
        result.observation().to_text()
    };
    for hidden in [false, true] {
        let found = paths(".", hidden).await;
        assert!(found.contains("a.txt") && !found.contains(".worktrees"), "{found}");
    }
    let found = paths(".worktrees/w", false).await;
    assert!(found.contains(".worktrees/w/a.txt"), "{found}");
}

#[tokio::test]
async fn a_base_is_a_commit_and_nothing_else() {
    let fixture = Fixture::new();
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fs::write(fixture.path("a.txt"), "two\n").unwrap();
    commit(&fixture.path(""), "second");
    let arguments = json!({"name": "old", "base": "main~1"});
    let value = fixture.call("EnterWorktree", arguments).await.unwrap();
    assert_eq!(value["base_commit"], first.as_str());
    for base in ["missing", "--all", "-h", "HEAD:a.txt"] {
        let error =
            fixture.call("EnterWorktree", json!({"name": "x", "base": base})).await.unwrap_err();
        let expected =
            format!("`{base}` is not a commit of the repository; give a branch, a tag or a commit");
        assert_eq!(error, expected);
    }
    let error =
        fixture.call("EnterWorktree", json!({"name": "old", "base": "main"})).await.unwrap_err();
    assert!(error.contains("exists already, so `base` cannot apply"), "{error}");
    assert_eq!(fixture.branches(), ["main", "old"]);
}

#[tokio::test]
async fn names_that_are_taken_or_not_valid_create_nothing() {
    let fixture = Fixture::new();
    fixture.git(&["branch", "taken"]);
    assert_eq!(
        fixture.enter("taken").await.unwrap_err(),
        "the branch `taken` exists already; choose another name"
    );
    fixture.enter("w").await.unwrap();
    fs::create_dir(fixture.tree("plain")).unwrap();
    assert_eq!(
        fixture.enter("plain").await.unwrap_err(),
        "`.worktrees/plain` exists already and is not a worktree; choose another name"
    );
    for name in [
        "", "-b", "--force", "../up", "a/b", "..", ".git", "a..b", "a.lock", "HEAD", "a b", "a\nb",
        "ä", "a~1", "@{-1}",
    ] {
        let error = fixture.enter(name).await.unwrap_err();
        assert!(error.starts_with(&format!("the name {name:?} ")), "{error}");
        let error = fixture.exit(name, "remove", true).await.unwrap_err();
        assert!(error.starts_with(&format!("the name {name:?} ")), "{error}");
    }
    assert_eq!(fixture.branches(), ["main", "taken", "w"]);
}

proptest! {
    #![proptest_config(crate::property::cases(64))]

    /// A name that passes is a branch for git, and one part of a path.
    #[test]
    fn accepted_names_are_branches(name in prop_oneof!["[a-zA-Z0-9._-]{1,8}", "[-./@a]{1,5}", "\\PC{0,6}"]) {
        if name::check(&name).is_ok() {
            let checked = Command::new("git").args(["check-ref-format", "--branch", &name]).output().unwrap();
            prop_assert!(checked.status.success(), "{}", name);
            prop_assert_eq!(std::path::Path::new(&name).components().count(), 1);
        }
    }
}

#[tokio::test]
async fn a_root_without_a_repository_is_an_error() {
    let directory = tempfile::TempDir::new().unwrap();
    fs::create_dir(directory.path().join("root")).unwrap();
    let ceiling = [("GIT_DIR", "/nowhere")];
    let pool = pool(directory.path(), CodeParams::default(), &ceiling);
    let call = tool_runtime::ToolCall::json("EnterWorktree", json!({"name": "a"}));
    let text = pool.call(call).await.observation().to_text();
    assert!(text.starts_with("there is no repository of git in `"), "{text}");
    assert!(!directory.path().join("root/.worktrees").exists());
}

#[tokio::test]
async fn a_repository_without_commits_is_an_error() {
    let directory = tempfile::TempDir::new().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    super::git(&root, &["init", "--quiet"]);
    let pool = pool(directory.path(), CodeParams::default(), &[]);
    let call = tool_runtime::ToolCall::json("EnterWorktree", json!({"name": "a"}));
    let text = pool.call(call).await.observation().to_text();
    assert_eq!(text, "`HEAD` is not a commit of the repository; give a branch, a tag or a commit");
}

#[test]
fn without_git_the_tools_are_hidden_with_a_reason() {
    let worktrees = WorktreeParams { git: "no-such-git".into(), ..WorktreeParams::default() };
    let fixture = Fixture::with(CodeParams { worktrees, ..CodeParams::default() }, &[]);
    let tools = fixture.pool.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    assert!(names.contains(&"NotebookEdit") && !names.contains(&"EnterWorktree"), "{names:?}");
    let report = fixture.pool.report().to_string();
    assert!(report.contains("`no-such-git` is missing; install git"), "{report}");
}

#[tokio::test]
async fn the_directory_is_the_operators_and_stays_in_the_roots() {
    let at = |directory: &str| {
        let worktrees = WorktreeParams { directory: directory.into(), ..WorktreeParams::default() };
        Fixture::with(CodeParams { worktrees, ..CodeParams::default() }, &[])
    };
    let value = at("trees/here").enter("w").await.unwrap();
    assert_eq!(value["path"], "trees/here/w");
    let error = at("../out").enter("w").await.unwrap_err();
    assert!(error.contains("is outside the workspace"), "{error}");
    let error = at(".").enter("w").await.unwrap_err();
    assert_eq!(error, "the directory for worktrees must be inside a root");

    let fixture = Fixture::new();
    let outside = fixture.directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.path(".worktrees")).unwrap();
    fixture.enter("w").await.unwrap_err();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(fixture.branches(), ["main"]);
}
