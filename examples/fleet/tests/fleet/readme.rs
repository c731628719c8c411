//! The section "Run tools on other machines" of the README of the repository.

use super::processes::{FLEET, free_address, run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tokio::process::Command;
use tool_runtime::ToolPool;
use tool_runtime::remote::{BoardError, HttpBoard, HttpBoardOptions, Remote};

const README: &str = include_str!("../../../../README.md");

/// The Rust of the section, between the two comments.
async fn connect(pool: ToolPool, token: &str) -> Result<Remote, BoardError> {
    // README
    let options = HttpBoardOptions::default().token(token);
    let board = HttpBoard::connect("http://127.0.0.1:7750", options).await?;
    let remote = Remote::builder(board).connect(&pool).await?;
    // README
    Ok(remote)
}

#[test]
fn its_rust_is_compiled_here() {
    let _compiled = connect;
    let code = include_str!("readme.rs").split("    // README\n").nth(1).unwrap();
    let lines: String =
        code.lines().map(|line| format!("{}\n", line.trim_start_matches("    "))).collect();
    assert_eq!(rust(), lines, "copy the lines of `connect` into the README");
}

/// The Rust of the section.
fn rust() -> &'static str {
    let code = section().split("```rust\n").nth(1).unwrap();
    code.split("```").next().unwrap()
}

fn section() -> &'static str {
    let section = README.split("## Run tools on other machines").nth(1).unwrap();
    section.split("\n## ").next().unwrap()
}

/// Instead of cargo: the program of `cargo run -p fleet [--bin NAME] -- ARGUMENTS`.
const CARGO: &str = r#"#!/bin/sh
program=fleet
while [ "$1" != -- ]; do
    if [ "$1" = --bin ]; then program=$2; fi
    shift
done
shift
exec "$PROGRAMS/$program" "$@"
"#;

/// The commands of the section.
fn commands() -> Vec<&'static str> {
    section().lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

#[tokio::test]
async fn its_commands_work_as_written() {
    let commands = commands();
    assert!((5..=10).contains(&commands.len()), "{commands:?}");
    // A person types the status after the runners have started; a script repeats it until they have.
    let lines = commands.iter().map(|line| match line.contains(" remote status ") {
        true => {
            format!("until {line} | grep -c '1 runner, 1 tool' | grep -qx 2; do :; done\n{line}\n")
        }
        false => format!("{line}\n"),
    });
    let address = free_address().await;
    let script = format!("trap 'kill $(jobs -p)' EXIT\n{}", lines.collect::<String>())
        .replace("127.0.0.1:7750", &address)
        .replace("remote serve", &format!("remote serve --listen {address}"));
    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-ec", &script]).current_dir(folder.path()).env("PATH", path);
    shell.env("PROGRAMS", Path::new(FLEET).parent().unwrap());
    shell.env("FLEET_HUB", format!("http://{address}"));
    let (code, printed, errors) = run(shell).await;
    assert_eq!((code, printed.lines().last()), (Some(0), Some("42")), "{printed}{errors}");
}
