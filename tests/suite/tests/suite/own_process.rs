//! Runs tests in separate processes, for tests that measure their whole process.

use std::process::Command;
use std::time::Duration;
use suite::process::run;

/// Environment variable with the test that a process runs.
const TEST_VARIABLE: &str = "SUITE_ALONE";

/// Runs a test, named by its path, in a separate process.
pub(super) fn in_separate_process(test: &str, limit: Duration, body: impl FnOnce()) {
    if std::env::var(TEST_VARIABLE).is_ok_and(|name| name == test) {
        return body();
    }
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args([test, "--exact", "--nocapture"]).env(TEST_VARIABLE, test);
    let ended = run(&mut command, limit).expect("the test starts");
    let is_run = ended.output.contains("1 passed");
    assert!(ended.is_success() && is_run, "{test} in a separate process {}", ended.described());
}
