//! Starting a process: its command, its environment, and errors.

use super::super::error::SpawnError;
use super::super::exit::Exit;
use super::super::{Child, Command};
use super::support::{Server, exited, redactor, script, start};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use tokio::io::AsyncReadExt as _;
use tokio_util::task::TaskTracker;

/// A temporary directory.
struct Folder(PathBuf);

impl Folder {
    fn named(name: &str) -> Self {
        let path = std::env::temp_dir();
        let path = path.join(format!("tool-runtime-{}-{name}", process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path.canonicalize().expect("it is there"))
    }

    /// Another process writes the file: one that a process has open for writing cannot be executed, and another
    /// test may be about to start a process, which has our descriptors until it executes its program.
    fn holding(self, file: &str, text: &str, mode: u32) -> Self {
        let path = self.0.join(file);
        let mut write = process::Command::new("sh");
        let written = write.args(["-c", "printf %s \"$1\" > \"$0\""]).arg(&path).arg(text).status();
        assert!(written.expect("a shell").success());
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
        self
    }

    fn text(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const GREETER: &str = "#!/bin/sh\necho greeted\n";

fn named(program: &str, path: &str) -> Command {
    let mut command = Command::new(program);
    command.env.insert("PATH".to_owned(), path.to_owned());
    command
}

async fn rejection(command: &Command) -> String {
    Child::spawn(command, "test", TaskTracker::new().token())
        .await
        .err()
        .expect("it cannot be started")
        .to_string()
}

#[tokio::test]
async fn a_name_is_looked_up_in_the_path_of_the_entry() {
    let first = Folder::named("first").holding("greeter", "not this one", 0o644);
    let second = Folder::named("second").holding("greeter", GREETER, 0o755);
    let command = named("greeter", &format!("{}:{}", first.text(), second.text()));
    assert_eq!(start(&command).await.line().await, "greeted");
}

#[tokio::test]
async fn a_path_is_relative_to_the_working_directory_of_the_entry() {
    let folder = Folder::named("relative").holding("greeter", GREETER, 0o755);
    let mut command = Command::new("./greeter");
    command.cwd = Some(folder.0.clone());
    assert_eq!(start(&command).await.line().await, "greeted");
}

#[tokio::test]
async fn programs_in_the_current_directory_are_not_found() {
    for path in ["", ".", ":", "src:"] {
        let mut command = named("Cargo.toml", path);
        command.cwd = Some(Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
        let error = Child::spawn(&command, "test", TaskTracker::new().token()).await.err();
        assert!(matches!(error, Some(SpawnError::Lookup(_))), "only absolute folders count");
    }
}

#[tokio::test]
async fn an_error_names_the_missing_value_and_a_remedy() {
    let folder = Folder::named("errors").holding("idle", GREETER, 0o644).holding(
        "orphan",
        "#!/no/such/interpreter\n",
        0o755,
    );
    let path = folder.text();
    let cases = [
        (
            named("npx", &path),
            format!("there is no program `npx` in PATH ({path}): install Node.js"),
        ),
        (named("uvx", &path), format!("there is no program `uvx` in PATH ({path}): install uv")),
        (named("npx -y x", &path), "arguments go into `args`, one by one".to_owned()),
        (named("npx", ""), "in PATH, which names no directory: install".to_owned()),
        (named("", &path), "`command` is empty".to_owned()),
        (Command::new("/no/such/file"), "there is no file `/no/such/file`: correct".to_owned()),
        (Command::new("~/server"), "only shells know `~`, write `${HOME}`".to_owned()),
        (named("idle", &path), format!("`{path}/idle` is not executable: run `chmod +x`")),
        (named("orphan", &path), "the interpreter of its `#!` line is missing".to_owned()),
    ];
    for (command, expected) in cases {
        let error = rejection(&command).await;
        assert!(error.contains(&expected), "{error}\nlacks\n{expected}");
    }
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    let mut command = script("true");
    command.cwd = Some("/no/such/folder".into());
    let expected = "the working directory `/no/such/folder` is not a directory: create it or correct \
                    `cwd`";
    assert_eq!(rejection(&command).await, expected);
}

#[tokio::test]
async fn a_variable_has_a_name() {
    let mut command = script("true");
    command.env.insert("A=B".to_owned(), "s3cret-value".to_owned());
    let error = rejection(&command).await;
    assert!(
        error.contains("`A=B` is not a valid variable name") && !error.contains("s3cret"),
        "{error}"
    );
}

#[tokio::test]
async fn rejects_nul_without_showing_the_value() {
    let mut command = script("true");
    command.env.insert("TOKEN".to_owned(), "s3cret\0value".to_owned());
    let error = rejection(&command).await;
    assert!(error.contains("must not contain NUL") && !error.contains("s3cret"), "{error}");
}

#[tokio::test]
async fn a_child_gets_a_small_environment() {
    let mut command = Command::new("env");
    command.env.insert("GIVEN".to_owned(), "1".to_owned());
    let mut server = start(&command).await;
    let mut printed = String::new();
    server.stdout.read_to_string(&mut printed).await.expect("UTF-8");
    let names: Vec<&str> = printed.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"GIVEN") && names.contains(&"PATH"), "{names:?}");
    // Cargo sets these for tests.
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
}

/// An inherited copy of another child's input would keep it open.
#[tokio::test]
async fn children_do_not_inherit_each_others_streams() {
    let first = Server::run("cat").await;
    let second = Server::run("cat").await;
    drop(first.stdin);
    assert_eq!(exited(&first.child).await, Exit::Code(0));
    assert_eq!(second.child.exit(), None);
}

#[test]
fn debug_output_shows_no_values() {
    let mut command = script("echo s3cret-value");
    command.env.insert("TOKEN".to_owned(), "s3cret-value".to_owned());
    command.redactor = redactor(&[("${KEY}", "s3cret-value")]);
    let output = format!("{command:?}");
    assert!(output.contains("TOKEN") && !output.contains("s3cret"), "{output}");
}
