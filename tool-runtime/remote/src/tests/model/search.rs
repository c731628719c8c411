//! Many cases, on all cores.

use super::case::{Case, case};
use super::run;
use crate::property;
use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;

/// The difference between the seeds of two cases: odd, and without a pattern.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Cases that are taken one after the other, until one fails.
struct Search {
    config: Config,
    /// The seed of the first case.
    seed: u64,
    next: AtomicU32,
    failure: Mutex<Option<String>>,
}

impl Search {
    fn new(cases: u32) -> Self {
        let config = Config { max_shrink_iters: 200, ..property::cases(cases) };
        let RngSeed::Fixed(seed) = config.rng_seed else { unreachable!("cases have a seed") };
        Self { config, seed, next: AtomicU32::new(0), failure: Mutex::default() }
    }

    /// Checks cases until there are no more, or one fails.
    fn check(&self) {
        while self.failure.lock().unwrap().is_none() {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.config.cases {
                return;
            }
            let seed = self.seed_of(number);
            if let Err(failure) = self.check_case(seed) {
                let all = self.config.cases;
                let text = format!(
                    "case {number} of {all} fails; `PROPTEST_RNG_SEED={seed}` makes it the first one. {failure}"
                );
                self.failure.lock().unwrap().get_or_insert(text);
            }
        }
    }

    fn seed_of(&self, number: u32) -> u64 {
        self.seed.wrapping_add(u64::from(number).wrapping_mul(STRIDE))
    }

    fn tree_of(&self, seed: u64) -> (TestRunner, impl ValueTree<Value = Case>) {
        let config = Config { rng_seed: RngSeed::Fixed(seed), ..self.config.clone() };
        let mut runner = TestRunner::new(config);
        let tree = case().new_tree(&mut runner).expect("every value is a case");
        (runner, tree)
    }

    /// Checks the case of a seed. One that fails is made as small as possible.
    fn check_case(&self, seed: u64) -> Result<(), String> {
        let (mut runner, tree) = self.tree_of(seed);
        let checked = runner.run_one(tree, |case| {
            in_paused_time(case);
            Ok(())
        });
        checked.map(drop).map_err(|error| error.to_string())
    }
}

fn in_paused_time(case: Case) -> (u64, Duration) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(run(case))
}

/// So a failure can be repeated.
#[test]
fn a_case_takes_the_same_course_each_time() {
    let search = Search::new(100);
    for number in 0..search.config.cases {
        let case = search.tree_of(search.seed_of(number)).1.current();
        assert_eq!(in_paused_time(case.clone()), in_paused_time(case.clone()), "{case:?}");
    }
}

#[test]
fn every_call_has_one_outcome_whatever_is_lost() {
    let search = Search::new(10_000);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| search.check());
        }
    });
    if let Some(failure) = search.failure.into_inner().unwrap() {
        panic!("{failure}");
    }
}
