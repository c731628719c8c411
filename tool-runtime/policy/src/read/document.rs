//! Reads whole documents.

use super::object::{At, Mistakes, Object};
use super::path::DocumentPath;
use super::problem::PolicyProblem;
use super::rule::{Outcome, outcome, rule};
use super::syntax::Text;
use crate::case::Case;
use crate::rule::Rule;
use std::collections::HashMap;
use tool_runtime_core::govern::{Approvers, Effect};

/// A document without mistakes.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) rules: Vec<Rule>,
    pub(crate) default: (Effect, Option<String>),
    pub(crate) cases: Vec<Case>,
}

/// Reads a document. `None` if there is at least one problem.
pub(crate) fn read(text: &Text, problems: &mut Vec<PolicyProblem>) -> Option<Document> {
    read_as(text, problems, document)
}

/// Reads a string whose outermost value is read so. `None` if there is at least one problem.
pub(super) fn read_as<T>(
    text: &Text,
    problems: &mut Vec<PolicyProblem>,
    read: impl FnOnce(&At<'_>, &mut Mistakes) -> Option<T>,
) -> Option<T> {
    let before = problems.len();
    let value = text.parse(problems)?;
    let mut mistakes = Mistakes::default();
    let found = read(&At { path: DocumentPath::default(), value: &value }, &mut mistakes);
    let noted = mistakes.0.into_iter().map(|(path, fault)| text.problem(&path, fault));
    problems.extend(noted);
    problems[before..].sort_by_key(|problem| problem.line);
    found.filter(|_| problems.len() == before)
}

fn document(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Document> {
    let mut object = at.object(mistakes)?;
    if let Some(at) = object.take("version")
        && at.whole(mistakes).is_some_and(|version| version != 1)
    {
        mistakes.add(&at.path, "the version is not supported", "write `version: 1`");
    }
    object.take("description").and_then(|at| at.text(mistakes));
    let default = default(&mut object, mistakes);
    let rules = match object.take("rules") {
        Some(at) => rules(&at, mistakes),
        None => {
            let help = "write `rules:` with a list; without rules, everything is denied";
            mistakes.add(&DocumentPath::default(), "the key `rules` is missing", help);
            Vec::new()
        }
    };
    let cases = object.take("tests").map(|at| at.items(mistakes)).unwrap_or_default();
    let cases = cases.iter().filter_map(|at| super::case::case(at, mistakes)).collect();
    object.finish(mistakes);
    Some(Document { rules, default, cases })
}

fn default(object: &mut Object<'_>, mistakes: &mut Mistakes) -> (Effect, Option<String>) {
    let at = object.take("default");
    let Some(at) = at else { return (Effect::Deny, None) };
    match outcome(&at, mistakes) {
        Some(Outcome { effect, reason, approvers, expiry, time_limit, limits }) => {
            let has_times = expiry.or(time_limit).is_some();
            if approvers != Approvers::default() || has_times || !limits.is_empty() {
                let help = "write a last rule without `when`";
                mistakes.add(
                    &at.path,
                    "the default names no approvers, no time and no limits",
                    help,
                );
            }
            (effect, reason)
        }
        None => (Effect::Deny, None),
    }
}

fn rules(at: &At<'_>, mistakes: &mut Mistakes) -> Vec<Rule> {
    let mut rules = Vec::new();
    let (mut ids, mut priorities) = (HashMap::new(), HashMap::new());
    for (position, at) in at.items(mistakes).iter().enumerate() {
        let Some(rule) = rule(at, mistakes) else { continue };
        if let Some(first) = ids.insert(rule.id.to_string(), position) {
            let text = format!("rule {} has the id `{}`, too", first + 1, rule.id);
            mistakes.add(&at.path.key("id"), text, "give each rule an id of its own");
        }
        // A priority that is written decides alone; without one, the position does.
        if at.value.get("priority").is_some()
            && let Some(first) = priorities.insert(rule.priority, position)
        {
            let text = format!("rule {} has the priority {}, too", first + 1, rule.priority);
            let help = "give each rule another one, or remove both to go by position";
            mistakes.add(&at.path.key("priority"), text, help);
        }
        rules.push(Rule { position, ..rule });
    }
    rules
}
