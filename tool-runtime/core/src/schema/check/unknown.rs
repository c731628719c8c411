//! Messages about unknown properties.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::place::Place;
use crate::schema::check::wording;

/// The properties that somebody knows.
pub(super) struct Known<'k> {
    /// Their names.
    pub(super) names: Vec<&'k str>,
    /// What other names may match.
    pub(super) patterns: Vec<&'k str>,
}

/// The issue that the property `name` is none of the `known` ones.
pub(super) fn issue(
    rule: &'static str,
    name: &str,
    known: &Known<'_>,
    object: &Map<String, Value>,
    at: &Place<'_>,
) -> Issue {
    let noun = at.noun();
    // In a secret map the names are secret as well.
    let (shown, hint) = match at.is_secret() {
        true => (String::new(), String::new()),
        false => (format!(" {}", wording::name(name)), suggestion(name, known, object)),
    };
    let turn = if hint.is_empty() { ";" } else { "" };
    let choice = choice(known, noun);
    let message = format!("unknown {noun}{shown}{}{hint}{turn} {choice}", at.owner());
    Issue::new(at.entry(name, false).path(), rule, message)
}

/// The nearest of the names that are not given.
fn suggestion(name: &str, known: &Known<'_>, object: &Map<String, Value>) -> String {
    let free = known.names.iter().copied().filter(|known| !object.contains_key(*known));
    wording::did_you_mean(name, free, wording::name)
}

/// What there is to choose from.
fn choice(known: &Known<'_>, noun: &str) -> String {
    let names: Vec<String> = known.names.iter().map(|name| wording::name(name)).collect();
    let patterns: Vec<String> =
        known.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    let (list, patterns) = (wording::listed(&names), wording::either(&patterns));
    match (names.len(), patterns.is_empty()) {
        (0, true) => format!("there are no {noun}s"),
        (0, false) => format!("the names of {noun}s match {patterns}"),
        (1, true) => format!("the only {noun} is {list}"),
        (_, true) => format!("the {noun}s are {list}"),
        (_, false) => format!("the {noun}s are {list}, or names that match {patterns}"),
    }
}
