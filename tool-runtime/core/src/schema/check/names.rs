//! Missing and unknown properties, and the number of properties.

use serde_json::{Map, Value};

use crate::schema::check::location::Location;
use crate::schema::check::text::limit;
use crate::schema::check::{describe, wording};
use crate::vocabulary::error::Issue;

/// The issue about a wrong number of properties.
pub(super) fn count(
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
    at: &Location<'_>,
) -> Option<Issue> {
    let count = object.len() as u64;
    let fewest = limit(schema, "minProperties").filter(|fewest| count < *fewest);
    let most = limit(schema, "maxProperties").filter(|most| count > *most);
    let (rule, words, limit) = match (fewest, most) {
        (Some(fewest), _) => ("minProperties", "at least", fewest),
        (None, Some(most)) => ("maxProperties", "at most", most),
        (None, None) => return None,
    };
    let limit = wording::pluralize(limit, at.noun());
    let got = wording::got_count(object.len(), at);
    Some(Issue::new(at.path(), rule, format!("{} must have {words} {limit}{got}", at.subject())))
}

/// The issue that a property is missing: "missing required argument `query` (string): the text to look for".
pub(super) fn missing(
    root: &Value,
    name: &str,
    schema: Option<&Value>,
    at: &Location<'_>,
) -> Issue {
    let kind = schema.and_then(|schema| describe::brief(root, schema));
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let about = schema.and_then(|schema| describe::first_line(root, schema));
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    let (noun, quoted, owner) = (at.noun(), wording::name(name), at.owner());
    let message = format!("missing required {noun} {quoted}{owner}{kind}{about}");
    Issue::new(at.property(name, false).path(), "required", message)
}

/// The declared properties.
pub(super) struct Known<'k> {
    /// Schemas by name.
    pub(super) names: Vec<&'k str>,
    /// Schemas by patterns for names.
    pub(super) patterns: Vec<&'k str>,
}

/// The issue that the property `name` is not declared.
pub(super) fn unknown(
    rule: &'static str,
    name: &str,
    known: &Known<'_>,
    object: &Map<String, Value>,
    at: &Location<'_>,
) -> Issue {
    let noun = at.noun();
    // In a secret map the names are secret as well.
    let (quoted, hint) = match at.is_secret() {
        true => (String::new(), String::new()),
        false => (format!(" {}", wording::name(name)), suggestion(name, known, object)),
    };
    let separator = if hint.is_empty() { ";" } else { "" };
    let choice = choice(known, noun);
    let message = format!("unknown {noun}{quoted}{}{hint}{separator} {choice}", at.owner());
    Issue::new(at.entry(name, false).path(), rule, message)
}

/// The nearest declared name that the object does not have.
fn suggestion(name: &str, known: &Known<'_>, object: &Map<String, Value>) -> String {
    let free = known.names.iter().copied().filter(|known| !object.contains_key(*known));
    wording::did_you_mean(name, free, wording::name)
}

/// The allowed names.
fn choice(known: &Known<'_>, noun: &str) -> String {
    let names: Vec<String> = known.names.iter().map(|name| wording::name(name)).collect();
    let patterns: Vec<String> =
        known.patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    let (list, patterns) = (wording::list_of(&names), wording::either(&patterns));
    match (names.len(), patterns.is_empty()) {
        (0, true) => format!("there are no {noun}s"),
        (0, false) => format!("the names of {noun}s match {patterns}"),
        (1, true) => format!("the only {noun} is {list}"),
        (_, true) => format!("the {noun}s are {list}"),
        (_, false) => format!("the {noun}s are {list}, or names that match {patterns}"),
    }
}
