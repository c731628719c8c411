//! Limits as rules say them.

use crate::facts::Facts;
use crate::read::Fault;
use std::fmt::Write as _;
use tool_runtime_core::govern::{Limit, Measure, Refill};

/// The most calls of a sliding window, each of which takes 8 bytes.
const MAX_WINDOW: u64 = 100_000;

/// The calls that share a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Share {
    /// Those of one tool.
    Tool,
    /// Those of one caller. All anonymous callers are one.
    Principal,
    /// Those of one session. All calls outside sessions are one.
    Session,
    /// Those of one execution. All calls outside executions are one.
    Execution,
}

/// A limit of a rule.
#[derive(Debug, PartialEq)]
pub(crate) struct LimitRule {
    amount: u64,
    measure: Measure,
    refill: Refill,
    /// Empty: all calls of the rule.
    per: Vec<Share>,
}

impl LimitRule {
    /// # Errors
    /// Amounts that no call fits into, or that no counter holds.
    pub(crate) fn new(
        amount: u64,
        measure: Measure,
        refill: Refill,
        per: Vec<Share>,
    ) -> Result<Self, Fault> {
        if amount == 0 {
            return Err(Fault::new("the limit is 0", "write a larger one, or deny the calls"));
        }
        let is_window = matches!(refill, Refill::Window(_));
        if is_window && measure == Measure::Calls && amount > MAX_WINDOW {
            let text = format!("a sliding window of more than {MAX_WINDOW} calls");
            return Err(Fault::new(text, "write `kind: bucket`, which needs no memory"));
        }
        if let Refill::Window(time) | Refill::Steady(time) = refill
            && time.is_zero()
        {
            return Err(Fault::new("the window is zero", "write a time such as `1m`"));
        }
        if measure != Measure::Calls && refill != Refill::Never {
            let text = "a rate of something else than calls";
            return Err(Fault::new(text, "write a budget, or a rate of calls"));
        }
        Ok(Self { amount, measure, refill, per })
    }

    /// The limit of a call. `number` tells the limits of one rule apart.
    pub(crate) fn limit(
        &self,
        policy: &str,
        rule: &str,
        number: usize,
        facts: &Facts<'_>,
    ) -> Limit {
        let mut key = match policy {
            "" => format!("{rule}#{number}"),
            policy => format!("{policy}:{rule}#{number}"),
        };
        for share in &self.per {
            // Quoted: ids may contain every character.
            let written = match share {
                Share::Tool => write!(key, "/tool={}", facts.tool),
                Share::Principal => write!(key, "/principal={:?}", facts.principal.id()),
                Share::Session => write!(key, "/session={:?}", facts.session),
                Share::Execution => write!(key, "/execution={:?}", facts.execution),
            };
            written.unwrap_or_default();
        }
        let limit = match self.refill {
            Refill::Steady(time) => Limit::bucket(key, self.amount, time),
            Refill::Window(time) => Limit::rate(key, self.amount, time),
            _ => Limit::budget(key, self.amount),
        };
        let limit = limit.for_measure(self.measure);
        match facts.session {
            Some(_) if self.per.contains(&Share::Session) => limit.ending_with_session(),
            _ => limit,
        }
    }
}
