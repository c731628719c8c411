//! Counters of rates.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The state of one limit.
#[derive(Debug)]
pub(super) enum Counter {
    /// The times at which calls were counted, in order.
    Window(VecDeque<Instant>),
    /// The number of free permits, and when that was.
    Bucket { free: f64, at: Instant },
}

impl Counter {
    pub(super) fn window() -> Self {
        Self::Window(VecDeque::new())
    }

    pub(super) fn bucket(amount: u64, now: Instant) -> Self {
        Self::Bucket { free: amount as f64, at: now }
    }

    /// Refills what is free again.
    pub(super) fn refill(&mut self, amount: u64, time: Duration, now: Instant) {
        match self {
            Self::Window(times) => {
                while times.front().is_some_and(|at| now.saturating_duration_since(*at) >= time) {
                    times.pop_front();
                }
            }
            Self::Bucket { free, at } => {
                let passed = now.saturating_duration_since(*at).as_secs_f64();
                let amount = amount as f64;
                *free = (*free + amount * passed / time.as_secs_f64()).min(amount);
                *at = now.max(*at);
            }
        }
    }

    /// The time after which a call has room. `None` if it has room now.
    pub(super) fn wait(&self, amount: u64, time: Duration, now: Instant) -> Option<Duration> {
        match self {
            Self::Window(times) => {
                let surplus = times.len().checked_sub(usize::try_from(amount).ok()?)?;
                let free_at = times.get(surplus)?.checked_add(time)?;
                Some(free_at.saturating_duration_since(now))
            }
            // Sums of fractions may miss a whole number by a little.
            Self::Bucket { free, .. } if *free >= 1.0 - 1e-9 => None,
            Self::Bucket { free, .. } => Some(time.mul_f64((1.0 - free) / amount as f64)),
        }
    }

    pub(super) fn take(&mut self, now: Instant) {
        match self {
            Self::Window(times) => times.push_back(now),
            Self::Bucket { free, .. } => *free -= 1.0,
        }
    }

    /// Gives back what was taken at a time.
    pub(super) fn refund(&mut self, taken: Instant, amount: u64) {
        match self {
            Self::Window(times) => {
                if let Some(at) = times.iter().rposition(|at| *at == taken) {
                    times.remove(at);
                }
            }
            Self::Bucket { free, .. } => *free = (*free + 1.0).min(amount as f64),
        }
    }

    /// Whether a new counter would say the same.
    pub(super) fn is_idle(&self, amount: u64) -> bool {
        match self {
            Self::Window(times) => times.is_empty(),
            Self::Bucket { free, .. } => *free >= amount as f64,
        }
    }
}
