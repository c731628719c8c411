//! The keywords `enum` and `const`, and when two JSON values are equal.

use serde_json::{Map, Number, Value};

use crate::schema::check::location::Location;
use crate::schema::check::{number, wording};
use crate::vocabulary::error::Issue;

/// Checks the keywords `enum` and `const`.
pub(super) fn check(
    schema: &Map<String, Value>,
    value: &Value,
    at: &Location<'_>,
) -> Option<Issue> {
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

/// The issue that the value is not among `wanted`.
pub(super) fn none_of(
    rule: &'static str,
    wanted: &[&Value],
    value: &Value,
    at: &Location<'_>,
) -> Issue {
    let got = wording::got(value, at);
    // A single value is already named by the message.
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
        several => format!("one of {}", wording::list_of(several)),
    }
}

/// The nearest of the allowed values; none for a secret, which it would reveal.
pub(super) fn suggestion(wanted: &[&Value], value: &Value, at: &Location<'_>) -> String {
    match value {
        _ if at.is_secret() => String::new(),
        Value::String(text) => {
            let strings = wanted.iter().filter_map(|value| value.as_str());
            wording::did_you_mean(text, strings, wording::quoted)
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

/// Whether two values are equal by the standard: numbers by their value, so 1 equals 1.0.
///
/// Recurses no deeper than the shallower of the two.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            number::compare(a, b).is_some_and(|order| order.is_eq())
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// The value with every number written one way, so that equal values are equal in Rust too; `None` if it is nested
/// deeper than `levels`.
pub(super) fn normal(value: &Value, levels: u16) -> Option<Value> {
    let below = levels.checked_sub(1)?;
    Some(match value {
        Value::Number(number) => Value::Number(normal_number(number)),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| normal(item, below)).collect::<Option<_>>()?)
        }
        Value::Object(object) => {
            let pairs =
                object.iter().map(|(name, value)| Some((name.clone(), normal(value, below)?)));
            Value::Object(pairs.collect::<Option<Map<_, _>>>()?)
        }
        _ => value.clone(),
    })
}

/// A float without a fraction as the integer it is.
fn normal_number(number: &Number) -> Number {
    let whole = number.as_f64().filter(|_| number.is_f64()).and_then(number::to_integer);
    whole.and_then(Number::from_i128).unwrap_or_else(|| number.clone())
}
