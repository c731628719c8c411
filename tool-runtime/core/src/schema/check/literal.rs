//! The keywords `enum` and `const`.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::equal::same;
use crate::schema::check::place::Place;
use crate::schema::check::{received, wording};

/// The issue, if the value is none of those that the schema lists.
pub(super) fn check(schema: &Map<String, Value>, value: &Value, at: &Place<'_>) -> Option<Issue> {
    if let Some(wanted) = schema.get("const")
        && !same(wanted, value)
    {
        return Some(none_of("const", &[wanted], value, at));
    }
    let wanted: Vec<&Value> = schema.get("enum")?.as_array()?.iter().collect();
    let known = wanted.iter().any(|wanted| same(wanted, value));
    (!known).then(|| none_of("enum", &wanted, value, at))
}

/// The values that a schema's own `const` or `enum` allows, if it has one.
pub(super) fn of_schema(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// The issue that the value is none of `wanted`.
pub(super) fn none_of(
    rule: &'static str,
    wanted: &[&Value],
    value: &Value,
    at: &Place<'_>,
) -> Issue {
    let got = received::got(value, at);
    // Of a single value the message has just said what it is.
    let hint = if wanted.len() > 1 { suggestion(wanted, value, at) } else { String::new() };
    let message = format!("{} must be {}{got}{hint}", at.subject(), choice(wanted));
    Issue::new(at.path(), rule, message)
}

/// "one of "a", "b"", or the only value there is.
pub(super) fn choice(wanted: &[&Value]) -> String {
    let words: Vec<String> = wanted.iter().map(|value| wording::allowed(value)).collect();
    match words.as_slice() {
        [] => "left out: no value is allowed".to_owned(),
        [only] => only.clone(),
        several => format!("one of {}", wording::listed(several)),
    }
}

/// The nearest of the values that are wanted. For a secret there is none: it would give away what was written.
pub(super) fn suggestion(wanted: &[&Value], value: &Value, at: &Place<'_>) -> String {
    match value {
        _ if at.is_secret() => String::new(),
        Value::String(text) => {
            let texts = wanted.iter().filter_map(|value| value.as_str());
            wording::did_you_mean(text, texts, wording::quoted)
        }
        // Models write numbers and booleans as text and the other way round.
        _ => {
            let text = value.to_string();
            let meant = wanted.iter().find(|wanted| wanted.as_str() == Some(&text));
            let meant = meant.map(|meant| format!("; did you mean {}?", wording::allowed(meant)));
            meant.unwrap_or_default()
        }
    }
}
