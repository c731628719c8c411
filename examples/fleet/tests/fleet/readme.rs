//! The section "Run tools on other machines" of the README of the repository.

use super::processes::{FLEET, free_address, run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tokio::process::Command;

const README: &str = include_str!("../../../../README.md");

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
    let section = README.split("## Run tools on other machines").nth(1).unwrap();
    let lines = section.split("\n## ").next().unwrap().lines();
    lines.filter_map(|line| line.strip_prefix("    ")).collect()
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
