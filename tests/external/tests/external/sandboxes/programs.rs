//! Programs beside commands: git, language servers. Data of programs.

use super::fixture::Fixture;
use super::{Confined, outside};
use libtest_mimic::Trial;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tool_runtime_builtins::code::{CodeParams, LanguageServer, WorktreeParams};
use tool_runtime_builtins::{Sandbox, SandboxParams};

pub(super) fn tests(sandbox: Confined) -> [Trial; 4] {
    [
        sandbox.test("confines_language_servers", language_servers_change_temporary_files_alone),
        sandbox.test("confines_hooks_of_git", hooks_of_git_change_nothing_outside),
        sandbox.test("lets_git_make_worktrees", worktrees_are_made_and_removed),
        sandbox.test("protects_profiles_of_browsers", profiles_of_browsers_do_not_change),
    ]
}

/// An executable script. Another process writes it: a file that a process has open for writing cannot be executed, and
/// another test may be about to start a process, which has our descriptors until it executes its program.
pub(super) fn script(path: &Path, text: &str) {
    let mut write = Command::new("sh");
    write.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""]);
    assert!(write.arg(path).arg(text).status().unwrap().success());
}

/// The program tries to write everywhere, and ends.
async fn language_servers_change_temporary_files_alone(sandbox: Sandbox) {
    let (tools, outside) = (outside(), outside());
    let temporary = TempDir::new().unwrap();
    let program = tools.path().join("server");
    let targets = [outside.path(), temporary.path()].map(|path| path.join("new"));
    let text = format!(
        "for f in here {} {}; do echo x > $f; done",
        targets[0].display(),
        targets[1].display()
    );
    script(&program, &text);
    let server = LanguageServer::new(&program, [], [("x", "x")]);
    let params =
        CodeParams { language_servers: [("x".to_owned(), server)].into(), ..CodeParams::default() };
    // The root is not one of the directories for temporary files.
    let directory = super::outside();
    fs::create_dir(directory.path().join("root")).unwrap();
    let fixture = Fixture::over(
        directory,
        |workspace| workspace.sandbox(SandboxParams::new(sandbox)),
        |builtins| builtins.code(params),
    );
    fs::write(fixture.root().join("a.x"), "").unwrap();
    let arguments = json!({"operation": "documentSymbol", "file_path": "a.x"});
    let text = fixture.call("LSP", arguments).await.to_text();
    assert!(text.contains("did not start"), "{text}");
    let changed = [fixture.root().join("here"), targets[0].clone(), targets[1].clone()];
    assert_eq!(changed.map(|file| file.exists()), [false, false, true]);
    assert!(fixture.pool.get("LSP").unwrap().definition().annotations.is_read_only());
    fixture.close().await;
}

/// A repository, whose hook after a checkout writes outside it and in it.
fn repository(outside: &Path) -> TempDir {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    for words in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(&root);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().unwrap().success());
    }
    let hooks = root.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let (inside, outside) = (root.join("hooked"), outside.join("new"));
    let text = format!("echo x > {}; echo x > {}; true", inside.display(), outside.display());
    script(&hooks.join("post-checkout"), &text);
    directory
}

fn with_code(directory: TempDir, sandbox: Sandbox, hooks: bool) -> Fixture {
    let worktrees = WorktreeParams { hooks, ..WorktreeParams::default() };
    let params = CodeParams { worktrees, ..CodeParams::default() };
    Fixture::over(
        directory,
        |workspace| workspace.sandbox(SandboxParams::new(sandbox)),
        |builtins| builtins.code(params),
    )
}

async fn hooks_of_git_change_nothing_outside(sandbox: Sandbox) {
    let outside = outside();
    let fixture = with_code(repository(outside.path()), sandbox, true);
    fixture.value("EnterWorktree", json!({"name": "w"})).await;
    let changed = [fixture.root().join("hooked"), outside.path().join("new")];
    assert_eq!(changed.map(|file| file.exists()), [true, false]);
    fixture.close().await;
}

async fn worktrees_are_made_and_removed(sandbox: Sandbox) {
    let outside = outside();
    let fixture = with_code(repository(outside.path()), sandbox, false);
    fixture.value("EnterWorktree", json!({"name": "w"})).await;
    assert!(fixture.root().join(".worktrees/w/.git").is_file());
    let arguments = json!({"name": "w", "action": "remove"});
    fixture.value("ExitWorktree", arguments).await;
    assert!(
        !fixture.root().join(".worktrees/w").exists() && !fixture.root().join("hooked").exists()
    );
    fixture.close().await;
}

/// The directory exists as soon as there is a sandbox.
async fn profiles_of_browsers_do_not_change(sandbox: Sandbox) {
    let fixture = Fixture::confined(sandbox, true);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let profiles = cache.join("tool-runtime/browsers");
    assert_eq!(profiles.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let profile = tempfile::tempdir_in(&profiles).unwrap();
    fs::write(profile.path().join("Cookies"), "").unwrap();
    let name = profile.path().display();
    fixture.bash(&format!("echo x > {name}/Cookies; echo x > {name}/new; rm -rf {name}")).await;
    assert_eq!(fs::read(profile.path().join("Cookies")).unwrap(), b"");
    assert!(!profile.path().join("new").exists());
    let seen = fixture.bash(&format!("ls {name}")).await["stdout"] == "Cookies\n";
    assert_eq!(seen, sandbox == Sandbox::Landlock);
    fixture.close().await;
}
