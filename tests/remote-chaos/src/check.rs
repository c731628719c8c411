//! The checks when everything has ended.

use crate::Failure;
use crate::files::{Answer, Effect, Line, Outcome, Tool};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// What the records of steps say. `None` of those that are not done.
pub(crate) type Records = HashMap<String, Option<Answer>>;

/// The files of the processes.
pub(crate) struct Evidence {
    /// The number of calls of each caller.
    pub(crate) calls: usize,
    /// The lines of each caller.
    pub(crate) outcomes: Vec<Vec<Line>>,
    pub(crate) effects: Vec<Effect>,
    /// The records by their steps.
    pub(crate) records: Records,
    /// The processes that did not end in order.
    pub(crate) dead: HashSet<u32>,
    /// The processes that were stopped or cut off for longer than a lease.
    pub(crate) lapsed: HashSet<u32>,
}

/// The numbers of outcomes and effects.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    outcomes: HashMap<String, usize>,
    effects: usize,
    /// The effects that came again.
    repeated: usize,
    /// The outcomes that were written after the engine could not be reached in time.
    cut: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut outcomes: Vec<_> = self.outcomes.iter().collect();
        outcomes.sort();
        for (class, count) in outcomes {
            write!(f, "{count} {class}, ")?;
        }
        write!(f, "{} effects, {} of them again, {} cut", self.effects, self.repeated, self.cut)
    }
}

/// Checks everything.
///
/// # Errors
/// All that does not hold.
pub(crate) fn run(evidence: &Evidence) -> Result<Summary, Failure> {
    let had = evidence.effects.iter().collect();
    let mut check = Check { evidence, had, problems: Vec::new(), summary: Summary::default() };
    check.effects();
    for (caller, lines) in evidence.outcomes.iter().enumerate() {
        check.caller(caller, lines);
    }
    let Check { problems, summary, .. } = check;
    if problems.is_empty() {
        return Ok(summary);
    }
    Err(format!("{} problems\n{}", problems.len(), problems.join("\n")).into())
}

struct Check<'a> {
    evidence: &'a Evidence,
    had: HashSet<&'a Effect>,
    problems: Vec<String>,
    summary: Summary,
}

impl Check<'_> {
    /// A tool that may run at most once has its effect at most once.
    fn effects(&mut self) {
        let mut counts: HashMap<(&str, Tool), usize> = HashMap::new();
        for effect in &self.evidence.effects {
            if let Effect::Had { step, tool, .. } = effect {
                *counts.entry((step, *tool)).or_default() += 1;
            }
        }
        self.summary.effects = counts.values().sum();
        self.summary.repeated = self.summary.effects - counts.len();
        for ((step, tool), count) in counts {
            if tool == Tool::Once && count > 1 {
                self.problems.push(format!("step {step} of `once` had its effect {count} times"));
            }
        }
    }

    /// Each call of a caller is answered, always the same way.
    fn caller(&mut self, caller: usize, lines: &[Line]) {
        let mut answers: HashMap<usize, Vec<&Outcome>> = HashMap::new();
        for line in lines {
            if let Line::Outcome(outcome) = line {
                answers.entry(outcome.call).or_default().push(outcome);
            }
        }
        for call in 0..self.evidence.calls {
            let answers = answers.remove(&call).unwrap_or_default();
            let name = format!("call {call} of caller {caller}");
            let Some(first) = answers.first() else {
                self.problems.push(format!("{name} is not answered"));
                continue;
            };
            *self.summary.outcomes.entry(first.result.class.clone()).or_default() += 1;
            for answer in &answers {
                if answer != first {
                    self.problems.push(format!("{name} has two outcomes: {first:?}, {answer:?}"));
                }
                if let Err(problem) = self.answer(answer) {
                    self.problems.push(format!("{name}: {problem}: {answer:?}"));
                }
            }
        }
    }

    /// The answer is the record's, and is as it may be.
    fn answer(&mut self, answer: &Outcome) -> Result<(), String> {
        if answer.is_cut {
            self.summary.cut += 1;
            return Ok(());
        }
        match &*answer.result.class {
            "ok" => self.had_effect(answer)?,
            "indeterminate" => self.runner_is_gone(answer)?,
            "timeout" if !answer.in_execution => {}
            _ => return Err("this error has no reason".to_owned()),
        }
        self.is_record(answer)
    }

    fn had_effect(&self, answer: &Outcome) -> Result<(), String> {
        let effect: Option<Effect> = serde_json::from_str(&answer.result.text).ok();
        let is_own = |effect: &Effect| matches!(effect, Effect::Had { step, tool, .. } if (step, *tool) == (&answer.step, answer.tool));
        match effect.filter(is_own) {
            Some(effect) if self.had.contains(&effect) => Ok(()),
            _ => Err("it had no effect".to_owned()),
        }
    }

    /// The outcome of a call is unknown only if it may run at most once, and the runner that started it died or lapsed.
    fn runner_is_gone(&self, answer: &Outcome) -> Result<(), String> {
        if answer.tool == Tool::Again {
            return Err("it could have run again".to_owned());
        }
        let Evidence { dead, lapsed, .. } = self.evidence;
        let is_gone = |effect: &Effect| match effect {
            Effect::Up { runner, pid } => {
                answer.result.text.contains(&format!("`{runner}`"))
                    && (dead.contains(pid) || lapsed.contains(pid))
            }
            Effect::Had { .. } => false,
        };
        match self.evidence.effects.iter().any(is_gone) {
            true => Ok(()),
            false => Err("its runner neither died nor lapsed".to_owned()),
        }
    }

    fn is_record(&self, answer: &Outcome) -> Result<(), String> {
        match self.evidence.records.get(&answer.step) {
            Some(Some(record)) if *record == answer.result => Ok(()),
            Some(Some(record)) => Err(format!("the record says {record:?}")),
            Some(None) => Err("its record is not done".to_owned()),
            // Its time was over before it was submitted.
            None if answer.result.class == "timeout" && !self.has_effect(&answer.step) => Ok(()),
            None => Err("it has no record".to_owned()),
        }
    }

    fn has_effect(&self, step: &str) -> bool {
        let is_its =
            |effect: &Effect| matches!(effect, Effect::Had { step: had, .. } if had == step);
        self.evidence.effects.iter().any(is_its)
    }
}

/// What the outcome of a record says.
pub(crate) fn answer(outcome: &str) -> Option<Answer> {
    let outcome: Value = serde_json::from_str(outcome).ok()?;
    Some(match outcome.get("error") {
        Some(error) => Answer::new(error.get("class")?.as_str()?, error.get("message")?.as_str()?),
        None => Answer::new("ok", outcome.pointer("/ok/content/0/text")?.as_str()?),
    })
}
