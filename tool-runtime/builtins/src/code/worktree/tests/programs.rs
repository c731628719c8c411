//! Programs that a repository names.

use super::{Fixture, pool};
use crate::code::{CodeParams, WorktreeParams};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::prelude::*;

/// A repository whose hook, filter and file monitor leave a file behind. The filter is set for all worktrees, or only for
/// those besides the main one.
fn repository(hooks: bool, everywhere: bool) -> (Fixture, Vec<PathBuf>) {
    let worktrees = WorktreeParams { hooks, ..WorktreeParams::default() };
    let fixture = Fixture::with(CodeParams { worktrees, ..CodeParams::default() }, &[]);
    let marks: Vec<PathBuf> =
        ["hook", "filter", "monitor"].map(|name| fixture.directory.path().join(name)).into();
    let hook = fixture.path(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    write_script(&hook, &marks[0]);
    fs::write(fixture.path(".git/info/attributes"), "* filter=mine\n").unwrap();
    let file = if everywhere { "config" } else { "filters" };
    let file = fixture.path(&format!(".git/{file}"));
    if !everywhere {
        let key = "includeIf.gitdir:**/.git/worktrees/**.path";
        fixture.git(&["config", key, file.to_str().unwrap()]);
    }
    let set = |key: &str, value: &str| {
        fixture.git(&["config", "--file", file.to_str().unwrap(), key, value]);
    };
    for kind in ["clean", "smudge"] {
        let command = format!("touch '{}'; cat", marks[1].display());
        set(&format!("filter.mine.{kind}"), &command);
    }
    set("filter.mine.required", "true");
    let monitor = fixture.path(".git/monitor");
    write_script(&monitor, &marks[2]);
    fixture.git(&["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    marks.iter().for_each(|mark| drop(fs::remove_file(mark)));
    (fixture, marks)
}

/// Another process writes the file: one that a process has open for writing cannot be executed, and another test may be
/// about to start a process, which has our descriptors until it executes its program.
fn write_script(path: &Path, mark: &Path) {
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display());
    let mut write = Command::new("sh");
    write.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""]).arg(path).arg(text);
    assert!(write.status().unwrap().success());
}

async fn runs(hooks: bool, everywhere: bool) -> Vec<bool> {
    let (fixture, marks) = repository(hooks, everywhere);
    fixture.enter("w").await.unwrap();
    assert_eq!(
        fs::read(fixture.tree("w").join("a.txt")).unwrap(),
        fs::read(fixture.path("a.txt")).unwrap()
    );
    fs::write(fixture.tree("w").join("a.txt"), "changed").unwrap();
    fixture.exit("w", "remove", false).await.unwrap_err();
    fixture.exit("w", "remove", true).await.unwrap();
    marks.iter().map(|mark| mark.exists()).collect()
}

#[tokio::test]
async fn programs_of_the_repository_run_only_if_the_operator_allows_it() {
    for everywhere in [true, false] {
        assert_eq!(runs(false, everywhere).await, [false, false, false]);
        assert_eq!(runs(true, everywhere).await, [true, true, true]);
    }
}

#[tokio::test]
async fn variables_of_other_calls_of_git_do_not_reach_it() {
    let variables =
        [("GIT_DIR", "/nowhere"), ("GIT_WORK_TREE", "/"), ("GIT_INDEX_FILE", "/nowhere")];
    let fixture = Fixture::with(CodeParams::default(), &variables);
    fixture.enter("w").await.unwrap();
    fixture.exit("w", "remove", false).await.unwrap();
}

/// The name of the filter is not UTF-8, so that no setting of a variable can turn it off.
#[tokio::test]
async fn a_filter_with_any_name_does_not_run() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    let mark = fixture.directory.path().join("mark");
    fs::write(fixture.path(".git/info/attributes"), b"* filter=e\xff\n").unwrap();
    let mut settings = fs::read(fixture.path(".git/config")).unwrap();
    settings.extend(b"[filter \"e\xff\"]\n\tsmudge = \"touch '");
    settings.extend(mark.as_os_str().as_bytes());
    settings.extend(b"'; cat\"\n\tclean = cat\n\trequired\n");
    fs::write(fixture.path(".git/config"), settings).unwrap();
    fixture.enter("w").await.unwrap();
    assert!(fixture.tree("w").join("a.txt").exists() && !mark.exists());
}

/// Settings change again and again, so that a look at them says nothing about later ones.
#[tokio::test]
async fn settings_that_change_during_a_call_name_no_programs() {
    let fixture = Fixture::new();
    let mark = fixture.directory.path().join("mark");
    fs::write(fixture.path(".git/info/attributes"), "* filter=evil\n").unwrap();
    let harmless = fs::read(fixture.path(".git/config")).unwrap();
    let filter = format!("[filter \"evil\"]\n\tsmudge = \"touch '{}'; cat\"\n", mark.display());
    let harmful = [&harmless[..], filter.as_bytes()].concat();
    let (config, stop) = (fixture.path(".git/config"), Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop);
    let toggling = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            for text in [&harmless, &harmful] {
                let new = config.with_extension("new");
                fs::write(&new, text).unwrap();
                fs::rename(&new, &config).unwrap();
            }
        }
    });
    for number in 0..10 {
        fixture.enter(&format!("w{number}")).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    toggling.join().unwrap();
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_repository_with_files_outside_of_the_roots_has_no_worktrees() {
    let fixture = Fixture::new();
    let directory = fixture.directory.path();
    fs::create_dir_all(fixture.path("sub/root")).unwrap();
    let inner = pool(&fixture.path("sub"), CodeParams::default(), &[]);
    let call = || ToolCall::json("EnterWorktree", serde_json::json!({"name": "w"}));
    let text = inner.call(call()).await.observation().to_text();
    assert!(text.contains("begins at") && text.contains("outside the workspace"), "{text}");

    // A worktree of a repository elsewhere.
    fixture.git(&["worktree", "add", "-q", "../linked/root"]);
    let linked = pool(&directory.join("linked"), CodeParams::default(), &[]);
    let text = linked.call(call()).await.observation().to_text();
    assert!(text.contains("is in `") && text.contains("outside the workspace"), "{text}");
    assert_eq!(fixture.branches(), ["main", "root"]);
}

/// Objects, references and records of another repository are not those of this one.
#[tokio::test]
async fn parts_of_a_repository_outside_of_the_roots_are_refused() {
    let fixture = Fixture::new();
    let outside = fixture.directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(fixture.path(".git/objects/info/alternates"), format!("{}\n", outside.display()))
        .unwrap();
    let error = fixture.enter("w").await.unwrap_err();
    assert!(error.contains("outside the workspace"), "{error}");
    fs::remove_file(fixture.path(".git/objects/info/alternates")).unwrap();
    for name in ["worktrees", "logs", "packed-refs"] {
        let entry = fixture.path(".git").join(name);
        let _ = fs::remove_dir_all(&entry);
        std::os::unix::fs::symlink(&outside, &entry).unwrap();
        let error = fixture.enter("w").await.unwrap_err();
        assert!(error.contains("outside the workspace"), "{name}: {error}");
        fs::remove_file(&entry).unwrap();
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    fixture.enter("w").await.unwrap();
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_of_git_does_not_block() {
    let fixture = Fixture::new();
    let made = Command::new("mkfifo").arg(fixture.path(".git/commondir")).status().unwrap();
    assert!(made.success());
    let error = fixture.enter("w").await.unwrap_err();
    assert!(error.contains("is not a file"), "{error}");
}

/// Settings of the user that tools could write name programs as those of a repository do.
#[tokio::test]
async fn settings_of_the_user_in_a_root_are_not_read() {
    let fixture = Fixture::new();
    let home = fixture.path("");
    let mark = fixture.directory.path().join("mark");
    let filter = format!("[filter \"e\"]\n\tsmudge = \"touch '{}'; cat\"\n", mark.display());
    fs::write(home.join(".gitconfig"), filter).unwrap();
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::write(home.join(".config/git/attributes"), "* filter=e\n").unwrap();
    let variables = [("HOME", home.to_str().unwrap())];
    let pool = pool(fixture.directory.path(), CodeParams::default(), &variables);
    let call = ToolCall::json("EnterWorktree", serde_json::json!({"name": "w"}));
    let result = pool.call(call).await;
    assert!(!result.is_error(), "{}", result.observation().to_text());
    assert!(!mark.exists());
}
