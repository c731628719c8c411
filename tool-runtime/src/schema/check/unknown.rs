//! What to say of a property that nobody knows.

use serde_json::{Map, Value};

use crate::schema::Issue;
use crate::schema::check::object::{Rules, name_patterns};
use crate::schema::check::place::Place;
use crate::schema::check::wording;

/// The issue that the property `name` is none of the `known` ones.
pub(super) fn issue(
    rule: &'static str,
    name: &str,
    known: &[&str],
    rules: &Rules<'_>,
    object: &Map<String, Value>,
    at: &Place<'_>,
) -> Issue {
    let noun = at.noun();
    // In a secret map the names are secret as well.
    let shown = if at.is_secret() {
        String::new()
    } else {
        format!(" {}", wording::name(name))
    };
    let free = known
        .iter()
        .copied()
        .filter(|known| !object.contains_key(*known));
    let hint = if at.is_secret() {
        String::new()
    } else {
        wording::did_you_mean(name, free, wording::name)
    };
    let turn = if hint.is_empty() { ";" } else { "" };
    let choice = choice(known, &name_patterns(rules), noun);
    let message = format!("unknown {noun}{shown}{}{hint}{turn} {choice}", at.owner());
    Issue::new(at.entry(name, false).path(), rule, message)
}

/// What there is to choose from.
fn choice(known: &[&str], patterns: &[&str], noun: &str) -> String {
    let names: Vec<String> = known.iter().map(|name| wording::name(name)).collect();
    let patterns: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("`{pattern}`"))
        .collect();
    let (names, patterns) = (wording::listed(&names), wording::either(&patterns));
    match (known.len(), patterns.is_empty()) {
        (0, true) => format!("there are no {noun}s"),
        (0, false) => format!("the names of {noun}s match {patterns}"),
        (1, true) => format!("the only {noun} is {names}"),
        (_, true) => format!("the {noun}s are {names}"),
        (_, false) => format!("the {noun}s are {names}, or names that match {patterns}"),
    }
}
