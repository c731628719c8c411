//! The result of a run.

use std::fmt;
use std::time::Duration;

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of answered calls.
    pub answered: usize,
    /// Number of wrong answers: a failure, another text, an unknown id.
    pub wrong: usize,
    /// The first wrong answer, verbatim.
    pub first_wrong: Option<String>,
    /// Time from the first call to the last answer.
    pub wall: Duration,
    /// CPU time of the server's processes, in steps of 10 ms.
    pub cpu: Duration,
    /// Peak memory of the server's processes, in KiB.
    pub peak_rss: u64,
    /// Latency of each call, sorted.
    latencies: Vec<Duration>,
}

impl Outcome {
    /// Counts an answer. `wrong` is its text if it is not the expected one.
    pub(crate) fn count(&mut self, latency: Duration, wrong: Option<&str>) {
        self.answered += 1;
        self.latencies.push(latency);
        if let Some(text) = wrong {
            self.wrong += 1;
            self.first_wrong.get_or_insert_with(|| text.to_owned());
        }
    }

    /// Adds the results of another client of the same run.
    pub(crate) fn merge(&mut self, other: Self) {
        self.answered += other.answered;
        self.wrong += other.wrong;
        self.first_wrong = self.first_wrong.take().or(other.first_wrong);
        self.latencies.extend(other.latencies);
    }

    pub(crate) fn finish(&mut self, wall: Duration) {
        self.wall = wall;
        self.latencies.sort_unstable();
    }

    /// Answered calls per second.
    pub fn rate(&self) -> f64 {
        self.answered as f64 / self.wall.as_secs_f64()
    }

    /// CPU time of the server per call.
    pub fn cpu_each(&self) -> Duration {
        self.cpu.div_f64(self.answered.max(1) as f64)
    }

    /// The latency at a quantile: 0.5 is the median.
    pub fn quantile(&self, share: f64) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        let index = (last as f64 * share).round() as usize;
        self.latencies.get(index).copied().unwrap_or_default()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        write!(
            f,
            "{} calls, {} wrong, {:.0}/s, p50 {:.0} us, p99 {:.0} us, server {:.1} us CPU a call, \
             {} MiB at most",
            self.answered,
            self.wrong,
            self.rate(),
            us(self.quantile(0.5)),
            us(self.quantile(0.99)),
            us(self.cpu_each()),
            self.peak_rss / 1024,
        )?;
        match &self.first_wrong {
            Some(text) => write!(f, "\nthe first wrong answer: {text}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_cover_all_clients() {
        let ms = Duration::from_millis;
        let mut outcome = Outcome::default();
        outcome.count(ms(3), None);
        let mut other = Outcome::default();
        other.count(ms(1), Some("no"));
        other.count(ms(2), None);
        outcome.merge(other);
        outcome.finish(ms(10));
        assert_eq!((outcome.answered, outcome.wrong), (3, 1));
        assert_eq!(outcome.quantile(0.5), ms(2));
        assert_eq!(outcome.quantile(1.0), ms(3));
        assert_eq!(outcome.rate(), 300.0);
    }
}
