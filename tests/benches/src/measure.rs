//! Measures contenders side by side: each round runs all of them in turn, so that
//! a temporary slowdown of the machine affects all of them.

use crate::{allocations, clock};
use std::time::Duration;

/// One way to do the same work.
pub struct Contender<'a> {
    name: &'static str,
    work: Box<dyn FnMut(u64) + 'a>,
}

impl<'a> Contender<'a> {
    /// Creates a contender from the work of one call.
    pub fn new<T>(name: &'static str, mut work: impl FnMut() -> T + 'a) -> Self {
        let repeated = move |times| {
            for _ in 0..times {
                std::hint::black_box(work());
            }
        };
        Self { name, work: Box::new(repeated) }
    }

    /// Number of calls that take about `time`.
    fn calls_in(&mut self, time: Duration) -> u64 {
        let mut calls = 1;
        loop {
            let taken = self.time(calls);
            if taken * 4 >= time || calls > 1 << 30 {
                let each = taken.as_secs_f64() / calls as f64;
                return (time.as_secs_f64() / each.max(1e-9)).ceil() as u64;
            }
            calls *= 2;
        }
    }

    fn time(&mut self, calls: u64) -> Duration {
        let before = clock::thread();
        (self.work)(calls);
        clock::thread() - before
    }
}

/// The measurements of one contender.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Nanoseconds of thread CPU time a call, the median of all rounds.
    pub nanoseconds: f64,
    /// The median of each round's ratio to the first contender.
    pub ratio: f64,
    /// Allocations per call.
    pub allocations: u64,
}

/// Number and length of the rounds.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Rounds of each contender.
    pub rounds: usize,
    /// Duration of a round.
    pub round_time: Duration,
}

impl Effort {
    /// For precise tables.
    pub const FULL: Self = Self { rounds: 101, round_time: Duration::from_micros(1000) };
    /// For a quick check.
    pub const QUICK: Self = Self { rounds: 1, round_time: Duration::from_micros(1) };
}

/// Measures the contenders against the first of them.
pub fn measure(mut contenders: Vec<Contender<'_>>, effort: Effort) -> Vec<Measured> {
    let counts: Vec<u64> =
        contenders.iter_mut().map(|contender| allocations::count(|| (contender.work)(1))).collect();
    let calls: Vec<u64> =
        contenders.iter_mut().map(|contender| contender.calls_in(effort.round_time)).collect();
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..effort.rounds {
        for (index, contender) in contenders.iter_mut().enumerate() {
            let taken = contender.time(calls[index]).as_nanos() as f64;
            times[index].push(taken / calls[index] as f64);
        }
    }
    contenders
        .iter()
        .enumerate()
        .map(|(index, contender)| Measured {
            name: contender.name,
            nanoseconds: median(times[index].clone()),
            ratio: median(ratios(&times[index], &times[0])),
            allocations: counts[index],
        })
        .collect()
}

fn ratios(times: &[f64], floor: &[f64]) -> Vec<f64> {
    times.iter().zip(floor).map(|(time, floor)| time / floor).collect()
}

/// The median.
///
/// # Panics
/// If the list is empty.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
