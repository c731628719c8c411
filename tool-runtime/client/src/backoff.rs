//! Delays between attempts to connect.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

/// Delays between attempts to connect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Backoff {
    pub(super) first: Duration,
    pub(super) max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), max: Duration::from_secs(60) }
    }
}

impl Backoff {
    /// The delay after a number of failures in a row: exponential up to a limit, with jitter between half and all of it.
    pub(super) fn pause(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(30);
        let whole = self.first.saturating_mul(1 << doublings).min(self.max);
        whole / 2 + whole.mul_f64(random() / 2.0)
    }
}

/// A random number from 0 to 1, from the seed of a hash.
fn random() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_spread_over_the_upper_half() {
        let backoff = Backoff { first: Duration::from_secs(100), max: Duration::from_secs(100) };
        let pauses: Vec<u64> = (0..200).map(|_| backoff.pause(1).as_secs()).collect();
        for tenth in (50..100).step_by(10) {
            assert!(pauses.iter().any(|pause| (tenth..tenth + 10).contains(pause)), "{pauses:?}");
        }
    }

    #[test]
    fn delays_grow_to_a_limit() {
        let backoff = Backoff::default();
        for (failures, most) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1000, 60)] {
            let (pause, most) = (backoff.pause(failures), Duration::from_secs(most));
            assert!(pause <= most && pause >= most / 2, "{failures}: {pause:?}");
        }
    }
}
