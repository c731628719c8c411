//! The keywords about strings.

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::walk::Walker;
use crate::schema::check::wording;
use crate::schema::format;
use crate::vocabulary::error::Issue;

/// Checks a string against the lengths, the pattern and the format of a schema.
pub(super) fn check<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    text: &str,
    at: &Location<'_>,
    found: &mut Findings<'_>,
) {
    found.add_all(length(schema, text, at));
    found.add_all(pattern(walker, schema, text, at));
    found.add_all(check_format(walker, schema, text, at));
}

/// The issue, if the text is too short or too long, in characters.
fn length(schema: &Map<String, Value>, text: &str, at: &Location<'_>) -> Option<Issue> {
    let (shortest, longest) = (limit(schema, "minLength"), limit(schema, "maxLength"));
    if shortest.is_none() && longest.is_none() {
        return None;
    }
    let length = text.chars().count();
    let too_short = shortest.filter(|shortest| (length as u64) < *shortest);
    let too_long = longest.filter(|longest| (length as u64) > *longest);
    let (rule, words) = match (too_short, too_long) {
        (Some(1), _) => ("minLength", "not be empty".to_owned()),
        (Some(shortest), _) => ("minLength", length_words("at least", shortest, length, at)),
        (None, Some(longest)) => ("maxLength", length_words("at most", longest, length, at)),
        (None, None) => return None,
    };
    Some(Issue::new(at.path(), rule, format!("{} must {words}", at.subject())))
}

/// "be at least 3 characters long, got 2".
fn length_words(words: &str, limit: u64, length: usize, at: &Location<'_>) -> String {
    let got = wording::got_count(length, at);
    format!("be {words} {} long{got}", wording::pluralize(limit, "character"))
}

/// The issue, if the text does not match the pattern.
fn pattern<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    text: &str,
    at: &Location<'_>,
) -> Option<Issue> {
    let pattern = schema.get("pattern")?.as_str()?;
    if walker.regex(pattern)?.is_match(text) {
        return None;
    }
    let got = wording::got(&Value::from(text), at);
    let message = format!("{} must match the pattern `{pattern}`{got}", at.subject());
    Some(Issue::new(at.path(), "pattern", message))
}

/// The issue, if the text does not conform to the format.
fn check_format(
    walker: &Walker<'_>,
    schema: &Map<String, Value>,
    text: &str,
    at: &Location<'_>,
) -> Option<Issue> {
    let name = schema.get("format")?.as_str()?;
    if walker.conforms(name, text)? {
        return None;
    }
    let hint = format::hint(name).map(|hint| format!(" ({hint})")).unwrap_or_default();
    let got = wording::got(&Value::from(text), at);
    let message = format!("{} must be a valid {name}{hint}{got}", at.subject());
    Some(Issue::new(at.path(), "format", message))
}

/// The value of a limit on a count. The standard allows `2.0` as well.
pub(super) fn limit(schema: &Map<String, Value>, keyword: &str) -> Option<u64> {
    let limit = schema.get(keyword)?;
    limit.as_u64().or_else(|| {
        let limit = limit.as_f64()?;
        (limit >= 0.0 && limit.fract() == 0.0).then_some(limit as u64)
    })
}
