//! The settings of property tests.

use proptest::test_runner::{Config, RngSeed};

/// Checks a number of values that are the same in each run: a failure belongs to a change, not to a run. The variable
/// `PROPTEST_RNG_SEED` chooses others, and [`SEARCH`](search) more of them.
pub(crate) fn cases(cases: u32) -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    let cases = cases.saturating_mul(search());
    // Values that an assumption rejects grow with those that are checked.
    let max_global_rejects = config.max_global_rejects.saturating_mul(search());
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0),
        chosen @ RngSeed::Fixed(_) => chosen,
    };
    Config { cases, max_global_rejects, rng_seed, ..config }
}

/// How many times as many random values are checked: the variable `SEARCH`, a number. Default: 1.
pub(crate) fn search() -> u32 {
    let search = std::env::var("SEARCH").ok();
    search.map_or(1, |factor| factor.parse().expect("`SEARCH` is a number"))
}
