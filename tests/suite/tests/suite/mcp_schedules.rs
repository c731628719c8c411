//! Servers that misbehave, calls and an operator, all at once, as chance has it: each call gets its
//! one result in time, none is sent more often than it may be, and nothing is left.

mod operator;
mod plan;
mod tally;
mod world;

use super::alone::alone;
use plan::plan;
use proptest::test_runner::{Config, TestRunner};
use std::time::Duration;
use world::run;

/// For all runs together.
const LIMIT: Duration = Duration::from_secs(600);

/// How many runs there are if `PROPTEST_CASES` says nothing else.
const RUNS: u32 = 32;

#[test]
fn each_call_gets_exactly_one_result() {
    let test = "mcp_schedules::each_call_gets_exactly_one_result";
    alone(test, LIMIT, || {
        let cases = match std::env::var_os("PROPTEST_CASES") {
            Some(_) => Config::default().cases,
            None => RUNS,
        };
        let config =
            Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
        if let Err(failed) = TestRunner::new(config).run(&plan(), |plan| run(&plan)) {
            panic!("{failed}");
        }
    });
}
