//! B6, confinement: patterns of commands, files outside the root, and no switch for the model. How Landlock and
//! bubblewrap confine is tested next to them.

use crate::support::Desk;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// Commands that must not run where only `git status *` and `echo *` may.
const REFUSED: &[&str] = &[
    // The second command of a list.
    "git status; rm x",
    "git status && rm x",
    "git status || rm x",
    "git status & rm x",
    "git status\nrm x",
    // Pipes.
    "git status | sh",
    "rm x | git status",
    // Subshells, substitutions, groups.
    "(rm x)",
    "{ rm x; }",
    "git status $(rm x)",
    "git status `rm x`",
    "echo \"$(rm x)\"",
    "echo <(rm x)",
    "if true; then rm x; fi",
    "for i in 1; do rm x; done",
    // Programs that run others.
    "env rm x",
    "env -i PATH=/bin rm x",
    "xargs rm < list",
    "echo x | xargs rm",
    "nohup rm x",
    "timeout 1 rm x",
    "nice rm x",
    "command rm x",
    "exec rm x",
    "eval 'rm x'",
    "find . -exec rm {} +",
    "sudo rm x",
    // Interpreters.
    "sh -c 'git status'",
    "bash -c 'rm x'",
    "python3 -c 'import os'",
    "perl -e 1",
    "node -e 1",
    // Other words in front, and other spellings.
    "PATH=. git status",
    "GIT_PAGER='rm x' git status",
    "./git status",
    "git  stash",
    "git -c core.pager='rm x' status",
    "\\rm x",
    "r''m x",
    "echo x > file",
    "git status >> file",
    "source x",
    ". x",
];

#[tokio::test]
async fn commands_that_are_not_allowed_are_refused_in_every_disguise() {
    let desk = Desk::new(&[("x", "kept"), ("list", "x\n")]);
    for command in REFUSED {
        assert!(!desk.is_allowed("Bash(git status *), Bash(echo *)", command).await, "{command}");
    }
    assert_eq!(desk.text("x"), "kept");
    assert!(!desk.path("file").exists());
}

#[tokio::test]
async fn plain_commands_that_are_allowed_run() {
    let desk = Desk::new(&[]);
    for command in
        ["git status", "git status --short", "git 'status' --porcelain", "echo 'rm x; $(rm x)'"]
    {
        assert!(desk.is_allowed("Bash(git status *), Bash(echo *)", command).await, "{command}");
    }
}

#[tokio::test]
async fn no_argument_switches_the_confinement() {
    let desk = Desk::new(&[]);
    for tool in ["Bash", "terminal"] {
        for field in ["dangerouslyDisableSandbox", "sandbox", "no_sandbox", "network", "writable"] {
            let error = desk.error(tool, json!({ "command": "true", field: true })).await;
            assert!(error.contains(field), "{error}");
        }
    }
    let tools = desk.pool.tools();
    let definitions = serde_json::to_string(
        &tools.iter().map(|tool| tool.definition().clone()).collect::<Vec<_>>(),
    );
    assert!(!definitions.unwrap().to_lowercase().contains("sandbox"));
}

#[tokio::test]
async fn tools_for_files_stay_inside_of_the_root() {
    let desk = Desk::new(&[("inside.txt", "x\n")]);
    let outside = desk.path("../outside.txt");
    fs::write(&outside, "secret\n").unwrap();
    symlink("../outside.txt", desk.path("link")).unwrap();
    symlink("..", desk.path("up")).unwrap();
    let absolute = outside.display().to_string();
    for path in ["link", "up/outside.txt", "../outside.txt", "up/../../outside.txt", &absolute] {
        for (tool, arguments) in [
            ("Read", json!({ "file_path": path })),
            ("Write", json!({ "file_path": path, "content": "x" })),
            ("Edit", json!({ "file_path": path, "old_string": "secret", "new_string": "x" })),
            ("ListDirectory", json!({ "path": format!("{path}/..") })),
            ("Glob", json!({ "pattern": "*", "path": format!("{path}/..") })),
            ("Grep", json!({ "pattern": "secret", "path": path })),
            ("file_editor", json!({ "command": "view", "path": path })),
        ] {
            let text = desk.call(tool, arguments).await.to_text().to_string();
            assert!(
                !text.contains("secret\n") && !text.contains("outside.txt\n"),
                "{tool} {path}: {text}"
            );
        }
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret\n");
}
