//! What bubblewrap keeps in a root: settings of git, data of programs.

use super::Confined;
use super::fixture::Fixture;
use libtest_mimic::Trial;
use serde_json::json;
use std::fs;
use tempfile::TempDir;
use tool_runtime_builtins::{Sandbox, SandboxParams, WorkspaceBuilder};

pub(super) fn tests(bubblewrap: Confined) -> [Trial; 7] {
    [
        bubblewrap.test("lets_git_work", |_| git_works()),
        bubblewrap.test("protects_settings_of_git", |_| settings_of_git_do_not_change()),
        bubblewrap.test("lets_settings_of_git_change_if_allowed", |_| settings_change_if_allowed()),
        bubblewrap.test("hides_protected_directories", |_| protected_directories_are_hidden()),
        bubblewrap.test("hides_protected_files", |_| protected_files_are_not_read()),
        bubblewrap.test("gives_no_namespaces", |_| commands_have_no_namespaces()),
        bubblewrap.test("refuses_links_in_place_of_settings_of_git", |_| links_are_refused()),
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
    fixture.bash("git worktree add -q .w/w").await;
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
        "cp -r .git evil; echo ../evil > .git/commondir; rm .git/commondir; mv .git/commondir x",
        "rm .git/config.worktree; echo x > .git/config.worktree",
        "echo ../../evil > .git/worktrees/w/commondir; echo x > .git/worktrees/w/config.worktree",
        "mv .git/worktrees/w .git/worktrees/x; mv .git/worktrees .git/y",
        "rm -rf .git",
    ] {
        fixture.bash(command).await;
        let root = fixture.root();
        assert_eq!(fs::read(root.join(".git/config")).unwrap(), before, "{command}");
        assert!(!root.join(".git/hooks/pre-commit").exists(), "{command}");
        assert!(root.join(".git/hooks").is_dir() && !root.join(".git/hooks/link").is_symlink());
        let text = |name: &str| fs::read_to_string(root.join(".git").join(name)).unwrap();
        assert_eq!([text("commondir"), text("config.worktree")], [".\n", ""], "{command}");
        let worktree = ["worktrees/w/commondir", "worktrees/w/config.worktree"].map(text);
        assert_eq!(worktree, ["../..\n", ""], "{command}");
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
    let data = directory.path().join("root/state/data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("tasks.db"), "tasks").unwrap();
    let protected = data.clone();
    let fixture = Fixture::over(
        directory,
        |it| sandboxed(it).protect(protected),
        |builtins| builtins.files(),
    );
    let value = fixture
        .bash("ls -A state/data; echo x > state/data/new; rm -rf state; mv state away; echo end")
        .await;
    assert_eq!(value["stdout"], "end\n", "{value}");
    assert_eq!(fixture.bash("ls; ls -A state/data").await["stdout"], "state\n");
    assert_eq!(fs::read(data.join("tasks.db")).unwrap(), b"tasks");
    assert!(!data.join("new").exists());
    fixture.close().await;
}

async fn protected_files_are_not_read() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(&root).unwrap();
    let secret = root.join("secret.md");
    fs::write(&secret, "hunter2").unwrap();
    let protected = secret.clone();
    let fixture = Fixture::over(
        directory,
        |it| sandboxed(it).protect(protected),
        |builtins| builtins.files(),
    );
    let command = "cat secret.md; echo x > secret.md; rm -f secret.md; mv secret.md away; echo end";
    let value = fixture.bash(command).await;
    assert_eq!(value["stdout"], "end\n", "{value}");
    assert_eq!(fs::read(&secret).unwrap(), b"hunter2");
    fixture.close().await;
}

/// In another namespace, what is mounted could be renamed.
async fn commands_have_no_namespaces() {
    let fixture = Fixture::of(sandboxed, |builtins| builtins);
    for command in ["unshare --user true", "unshare --user --mount --map-root-user true"] {
        let value = fixture.bash(command).await;
        assert_ne!(value["exit_code"], 0, "{command}: {value}");
    }
    fixture.close().await;
}

/// A command would replace the link. A file that names the directory elsewhere in the root is kept with it.
async fn links_are_refused() {
    let fixture = repository(false).await;
    let root = fixture.root();
    fs::rename(root.join(".git"), root.join("meta")).unwrap();
    std::os::unix::fs::symlink("meta", root.join(".git")).unwrap();
    let error = fixture.call("Bash", json!({ "command": "true" })).await;
    assert!(error.is_error() && error.to_text().contains("is a link"), "{}", error.to_text());

    fs::remove_file(root.join(".git")).unwrap();
    fs::write(root.join(".git"), "gitdir: meta\n").unwrap();
    let before = fs::read(root.join("meta/config")).unwrap();
    let command =
        "echo x >> meta/config; echo gitdir: x > .git; mv meta away; rm .git; git status -s";
    let value = fixture.bash(command).await;
    assert_eq!(value["exit_code"], 0, "{value}");
    assert_eq!(fs::read(root.join("meta/config")).unwrap(), before);
    assert_eq!(fs::read_to_string(root.join(".git")).unwrap(), "gitdir: meta\n");

    fs::remove_dir_all(root.join("meta/hooks")).unwrap();
    std::os::unix::fs::symlink("../hooks", root.join("meta/hooks")).unwrap();
    let error = fixture.call("Bash", json!({ "command": "true" })).await;
    assert!(error.is_error() && error.to_text().contains("is a link"), "{}", error.to_text());
    fixture.close().await;
}
