//! The keyword `type`.

use crate::issue::Issue;
use crate::schema::check::kind::{Kind, admits, has_wide_format, of_schema};
use crate::schema::check::place::Place;
use crate::schema::check::{received, wording};
use serde_json::{Map, Value};

/// The issue, if the value's type is not one that the schema allows.
pub(super) fn check(schema: &Map<String, Value>, value: &Value, at: &Place<'_>) -> Option<Issue> {
    let kinds = of_schema(schema)?;
    let kind = Kind::of(value);
    if kinds.iter().any(|wanted| kind.is(*wanted)) || may_be_wide_integer(schema, value, at) {
        return None;
    }
    let words: Vec<String> = kinds.iter().map(|kind| kind.with_article().to_owned()).collect();
    let got = received::got_kind(value, at);
    let hint = if kinds.contains(&Kind::Integer) { integer_hint(value, at) } else { String::new() };
    let message = format!("{} must be {}{got}{hint}", at.subject(), wording::either(&words));
    Some(Issue::new(at.path(), "type", message))
}

/// What to write instead of a number with a fraction, or none in a narrow sense.
fn integer_hint(value: &Value, at: &Place<'_>) -> String {
    match value.as_f64() {
        _ if at.is_secret() => String::new(),
        Some(number) if number.fract() != 0.0 => String::new(),
        Some(number) if number.abs() < 1e15 => format!("; write {number}"),
        Some(_) => "; it must fit in 64 bits and have neither fraction nor exponent".to_owned(),
        None => String::new(),
    }
}

/// Whether the number could be an integer of 128 bits: `Value` keeps no more than 64 of them and makes it a float. A
/// result that is one was written as one; its schema does not say how wide it may be.
fn may_be_wide_integer(schema: &Map<String, Value>, value: &Value, at: &Place<'_>) -> bool {
    let is_wide = |number: f64| number.fract() == 0.0 && number.abs() >= 2_f64.powi(63);
    (has_wide_format(schema) || at.is_in_result())
        && admits(schema, Kind::Integer)
        && value.is_f64()
        && value.as_f64().is_some_and(is_wide)
}
