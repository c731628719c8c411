//! Calls of remote tools, whose hub, runners and callers are killed. The package's program says how.

use std::env;
use std::process::Command;

/// The number of calls in `.ci/run`. `.ci/nightly` makes more.
const CALLS: &str = "300";

const SEED: &str = "17";

#[test]
fn each_call_has_one_outcome_whatever_process_is_killed() {
    let calls = env::var("REMOTE_KILL_CALLS").unwrap_or_else(|_| CALLS.to_owned());
    let seed = env::var("REMOTE_KILL_SEED").unwrap_or_else(|_| SEED.to_owned());
    let drive = Command::new(env!("CARGO_BIN_EXE_remote-kill"))
        .args(["drive", &calls, &seed])
        .output()
        .expect("the driver starts");
    let (output, errors) =
        (String::from_utf8_lossy(&drive.stdout), String::from_utf8_lossy(&drive.stderr));
    assert!(drive.status.success(), "{output}{errors}");
}
