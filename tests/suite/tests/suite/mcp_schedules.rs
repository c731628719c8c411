//! Random schedules of misbehaving servers, calls and operations: each call gets its
//! result, none is repeated without permission, and no resources leak.

mod operator;
mod plan;
mod results;
mod simulation;

use super::own_process::in_separate_process;
use plan::plan;
use proptest::test_runner::{Config, TestRunner};
use simulation::run;
use std::time::Duration;

/// Time limit for all runs together.
const LIMIT: Duration = Duration::from_secs(1800);

/// Times the variable `SEARCH`.
const RUNS: u32 = 32;

#[test]
fn each_call_gets_exactly_one_result() {
    let test = "mcp_schedules::each_call_gets_exactly_one_result";
    in_separate_process(test, LIMIT, || {
        let config = Config { max_shrink_iters: 60, ..crate::property::cases(RUNS) };
        if let Err(failed) = TestRunner::new(config).run(&plan(), |plan| run(&plan)) {
            panic!("{failed}");
        }
    });
}
