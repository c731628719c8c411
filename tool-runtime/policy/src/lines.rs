//! Calls whose argument is a line of several commands: each is judged as if it were alone.

use crate::facts::Facts;
use crate::policy::{Outcome, Policy};
use tool_runtime_core::govern::Effect;
use tool_runtime_core::vocabulary::matching::ArgumentPart;

/// An outcome of the rules for a command, or for a call as a whole.
pub(crate) struct JudgedCommand<'p, 'a> {
    pub(crate) outcome: Outcome<'p>,
    pub(crate) facts: Facts<'a>,
    /// `None`: the call has no line of several commands.
    pub(crate) command: Option<String>,
}

impl Policy {
    /// The outcomes that decide about a call, each rule once: limits count a call once.
    pub(crate) fn outcomes_of_commands<'p, 'a>(
        &'p self,
        facts: &Facts<'a>,
    ) -> Vec<JudgedCommand<'p, 'a>> {
        let Some((line, commands)) = self.commands(facts) else {
            return self.judged(facts.clone(), None);
        };
        let mut all: Vec<JudgedCommand<'p, 'a>> = Vec::new();
        for part in commands {
            let judged = self.judged(facts.of_command(line, part.text), Some(part.text));
            // Rules may deny a harmless command; none need allow it.
            let is_by_default = judged.iter().all(|it| it.outcome.rule.is_none());
            if part.is_harmless && is_by_default {
                continue;
            }
            for it in judged {
                if !all.iter().any(|other| other.outcome.is_same(it.outcome)) {
                    all.push(it);
                }
            }
        }
        all
    }

    /// The outcome, and those of rules that ask because they could not be evaluated: these restrict an allowance and
    /// another question.
    fn judged<'p, 'a>(
        &'p self,
        facts: Facts<'a>,
        command: Option<&str>,
    ) -> Vec<JudgedCommand<'p, 'a>> {
        let (outcome, uncertain) = self.outcomes(&facts);
        let asked = uncertain.into_iter().filter(|_| outcome.effect != Effect::Deny);
        let outcomes = [outcome].into_iter().chain(asked);
        let command = || command.map(str::to_owned);
        outcomes
            .map(|outcome| JudgedCommand { outcome, facts: facts.clone(), command: command() })
            .collect()
    }

    /// The command that decides about a call, and the facts for it.
    pub(crate) fn strictest_command<'a>(&self, facts: &Facts<'a>) -> (Option<String>, Facts<'a>) {
        let outcomes = self.outcomes_of_commands(facts).into_iter();
        let strictest =
            outcomes.reduce(|first, next| match next.outcome.effect > first.outcome.effect {
                true => next,
                false => first,
            });
        match strictest {
            Some(it) => (it.command, it.facts),
            None => (None, facts.clone()),
        }
    }

    /// The line of a call and its commands. `None` if rules are about no line of several commands, or about several: such
    /// a call is judged as a whole.
    fn commands<'f>(&self, facts: &'f Facts<'_>) -> Option<(&'f str, Vec<ArgumentPart<'f>>)> {
        let (mut lines, mut found) = (Vec::new(), None);
        for position in &*self.index.for_tool(facts.tool, &self.rules) {
            for predicate in self.rules[*position as usize].predicates() {
                let Some((line, patterns)) = predicate.line(facts) else { continue };
                if lines.contains(&line) {
                    continue;
                }
                lines.push(line);
                let commands = patterns.parts(line);
                if commands.len() > 1 && found.replace((line, commands)).is_some() {
                    return None;
                }
            }
        }
        found
    }
}

impl Outcome<'_> {
    fn is_same(self, other: Self) -> bool {
        let id = |outcome: Self| outcome.rule.map(|rule| &*rule.id);
        id(self) == id(other) && self.is_uncertain == other.is_uncertain
    }
}

#[cfg(test)]
mod tests;
