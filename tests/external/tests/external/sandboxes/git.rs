//! What bubblewrap keeps in a root: settings of git, data of programs.

use super::Confined;
use super::fixture::Fixture;
use libtest_mimic::Trial;
use serde_json::json;
use std::fs;
use tempfile::TempDir;
use tool_runtime_builtins::{Sandbox, SandboxParams, WorkspaceBuilder};

pub(super) fn tests(bubblewrap: Confined) -> [Trial; 4] {
    [
        bubblewrap.test("lets_git_work", |_| git_works()),
        bubblewrap.test("protects_settings_of_git", |_| settings_of_git_do_not_change()),
        bubblewrap.test("lets_settings_of_git_change_if_allowed", |_| settings_change_if_allowed()),
        bubblewrap.test("hides_protected_directories", |_| protected_directories_are_hidden()),
    ]
}

fn sandboxed(workspace: WorkspaceBuilder) -> WorkspaceBuilder {
    workspace.sandbox(SandboxParams::new(Sandbox::Bubblewrap))
}

/// A repository that a command has made.
async fn repository(allowed: bool) -> Fixture {
    let fixture = Fixture::of(|it| sandboxed(it).git_settings(allowed), |builtins| builtins);
    let value = fixture
        .bash("export HOME=$PWD; git init -q . && git config user.name a && git config user.email a@b && git commit -q --allow-empty -m first")
        .await;
    assert_eq!(value["exit_code"], 0, "{value}");
    fixture
}

async fn git_works() {
    let fixture = repository(false).await;
    let command = "set -e; echo 1 > a; git add a; git commit -qm second; git switch -qc b; echo 2 > a; git commit -qam third; git switch -q -; git merge -q b; git tag t; git stash list; git log --oneline | wc -l";
    let value = fixture.bash(command).await;
    assert_eq!((&value["stdout"], &value["exit_code"]), (&json!("3\n"), &json!(0)), "{value}");
    fixture.close().await;
}

async fn settings_of_git_do_not_change() {
    let fixture = repository(false).await;
    let before = fs::read(fixture.root().join(".git/config")).unwrap();
    let value = fixture.bash("git config core.fsmonitor /tmp/evil").await;
    let notice = value["notice"].as_str().unwrap_or_default();
    assert!(
        notice.contains("read-only to commands") && notice.contains("--git-settings"),
        "{value}"
    );
    for command in [
        "echo x > .git/config",
        "echo x >> .git/config",
        "rm -f .git/config",
        "cp -r .git copy; echo x > copy/config; mv .git away; mv copy .git",
        "rm -rf .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
        "mv .git/hooks away",
        "ln -s /tmp .git/hooks/link",
        "mount --bind /tmp .git",
        "umount .git/config",
        "rm -rf .git",
    ] {
        fixture.bash(command).await;
        let root = fixture.root();
        assert_eq!(fs::read(root.join(".git/config")).unwrap(), before, "{command}");
        assert!(!root.join(".git/hooks/pre-commit").exists(), "{command}");
        assert!(root.join(".git/hooks").is_dir() && !root.join(".git/hooks/link").is_symlink());
    }
    fixture.close().await;
}

async fn settings_change_if_allowed() {
    let fixture = repository(true).await;
    let command = "git config a.b c && echo x > .git/hooks/pre-commit && git config a.b";
    let value = fixture.bash(command).await;
    assert_eq!(value["stdout"], "c\n", "{value}");
    fixture.close().await;
}

async fn protected_directories_are_hidden() {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("root/.data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("tasks.db"), "tasks").unwrap();
    let protected = data.clone();
    let fixture = Fixture::over(
        directory,
        |it| sandboxed(it).protect(protected),
        |builtins| builtins.files(),
    );
    let value = fixture
        .bash("ls -A .data; echo x > .data/new; rm -rf .data; mv .data away; echo end")
        .await;
    assert_eq!(value["stdout"], "end\n", "{value}");
    assert_eq!(fs::read(data.join("tasks.db")).unwrap(), b"tasks");
    assert!(!data.join("new").exists());
    fixture.close().await;
}
