//! Runs tests in separate processes, for tests that measure their whole process.

use std::process::Command;
use std::time::Duration;
use suite::process::run;

/// Environment variable with the test that a process runs.
const ALONE: &str = "SUITE_ALONE";

/// Runs a test, named by its path, in a separate process.
pub(super) fn alone(test: &str, limit: Duration, body: impl FnOnce()) {
    if std::env::var(ALONE).is_ok_and(|alone| alone == test) {
        return body();
    }
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args([test, "--exact", "--nocapture"]).env(ALONE, test);
    let ended = run(&mut command, limit).expect("the test starts");
    let is_run = ended.output.contains("1 passed");
    assert!(ended.is_success() && is_run, "{test} alone {}", ended.described());
}
