//! The scripts of `examples/fleet` over a NATS server.

use crate::needs::Need;
use crate::runners::fleet;
use libtest_mimic::Trial;
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// A script takes a quarter of a minute alone.
const LIMIT: Duration = Duration::from_secs(180);

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        Need::NatsServer.test("fleet::a_rolling_restart_fails_no_call", rolling_restart),
        Need::NatsServer.test("fleet::a_rolling_update_fails_no_call", rolling_update),
    ]
}

async fn rolling_restart() {
    let expected = "1000 of 1000 calls answered, 0 failed, 0 changes of the list, 333 lines appended, 0 of them twice";
    assert_eq!(last_line("rolling-restart").await, expected);
}

async fn rolling_update() {
    let expected = "1000 of 1000 calls answered, 0 failed, 1 changes of the list";
    assert_eq!(last_line("rolling-update").await, expected);
}

/// Runs a script. It builds its programs unless they are beside this one.
async fn last_line(script: &str) -> String {
    let mut command = Command::new(fleet().join(script));
    command.arg("--nats").stdin(Stdio::null()).kill_on_drop(true);
    let test = std::env::current_exe().unwrap();
    let programs = test.parent().and_then(|folder| folder.parent()).unwrap();
    if programs.join("fleet-next").exists() {
        command.env("FLEET_PROGRAMS", programs);
    }
    let output = timeout(LIMIT, command.output()).await.expect("it ends").unwrap();
    let Output { status, stdout, stderr } = &output;
    let (printed, errors) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    assert!(status.success(), "{printed}{errors}");
    printed.lines().last().unwrap_or_default().to_owned()
}
