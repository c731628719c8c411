//! The keywords about numbers: bounds and multiples.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::wording;
use crate::vocabulary::error::Issue;

/// A bound: its keyword, the comparison that violates it, and the text for the allowed values.
type Bound = (&'static str, fn(Ordering) -> bool, &'static str);

const BOUNDS: &[Bound] = &[
    ("minimum", Ordering::is_lt, "at least"),
    ("exclusiveMinimum", Ordering::is_le, "greater than"),
    ("maximum", Ordering::is_gt, "at most"),
    ("exclusiveMaximum", Ordering::is_ge, "less than"),
];

/// Checks a number against the bounds and the step of a schema.
pub(super) fn check(
    schema: &Map<String, Value>,
    number: &Number,
    at: &Location<'_>,
    found: &mut Findings<'_>,
) {
    let limits = BOUNDS.iter().filter_map(|(rule, breaks, words)| {
        let limit = schema.get(*rule)?.as_number()?;
        compare(number, limit).is_some_and(breaks).then(|| issue(rule, words, limit, number, at))
    });
    let mut issues: Vec<Issue> = limits.collect();
    // The bounds of a type repeat the schema's own bounds.
    if issues.is_empty() {
        issues.extend(type_limit(schema, number, at));
    }
    found.add_all(issues);
    if let Some(step) = schema.get("multipleOf").and_then(Value::as_number)
        && !is_multiple(number, step)
    {
        found.add(issue("multipleOf", "a multiple of", step, number, at));
    }
}

/// The issue of a number that violates `limit`, described by `words`.
fn issue(
    rule: &'static str,
    words: &str,
    limit: &Number,
    number: &Number,
    at: &Location<'_>,
) -> Issue {
    let got = wording::got(&Value::Number(number.clone()), at);
    Issue::new(at.path(), rule, format!("{} must be {words} {limit}{got}", at.subject()))
}

/// The issue, if the number does not fit into the integer type of the schema's `format`: schemars writes no bounds
/// for the wider types, but decoding fails outside them.
fn type_limit(schema: &Map<String, Value>, number: &Number, at: &Location<'_>) -> Option<Issue> {
    let format = schema.get("format")?.as_str()?;
    if format == "float" {
        return single_limit(number, at);
    }
    let (lowest, highest) = limits_of(format)?;
    let value = number.as_i128()?;
    if value < lowest {
        let lowest = Number::from_i128(lowest)?;
        Some(issue("format", "at least", &lowest, number, at))
    } else if value > highest {
        let highest = Number::from_i128(highest)?;
        Some(issue("format", "at most", &highest, number, at))
    } else {
        None
    }
}

/// The issue, if the number is infinite as an `f32`.
fn single_limit(number: &Number, at: &Location<'_>) -> Option<Issue> {
    let value = number.as_f64().filter(|value| (*value as f32).is_infinite())?;
    let (words, limit) = if value < 0.0 { ("at least", f32::MIN) } else { ("at most", f32::MAX) };
    Some(issue("format", words, &Number::from_f64(limit.into())?, number, at))
}

/// The lowest and the highest number of an integer type, by the name that schemars has for it.
pub(super) fn limits_of(format: &str) -> Option<(i128, i128)> {
    Some(match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" | "uint" => (0, u64::MAX.into()),
        "int128" => (i128::MIN, i128::MAX),
        "uint128" => (0, i128::MAX),
        _ => return None,
    })
}

/// Compares the values of two numbers, without rounding an integer to a float.
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => compare_mixed(a, b.as_f64()?),
        (None, Some(b)) => compare_mixed(b, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Compares an integer with a float.
fn compare_mixed(integer: i128, float: f64) -> Option<Ordering> {
    match to_integer(float.trunc()) {
        Some(trunc) => Some(integer.cmp(&trunc).then(0.0_f64.partial_cmp(&float.fract())?)),
        // Beyond all integers, so the sign decides.
        None => 0.0_f64.partial_cmp(&float),
    }
}

/// The integer equal to a float, if its size is supported.
pub(super) fn to_integer(float: f64) -> Option<i128> {
    // 2^96 is far above the 64-bit integers and far below where the cast would saturate.
    (float.fract() == 0.0 && float.abs() < 2_f64.powi(96)).then_some(float as i128)
}

/// Whether `number` is a multiple of `step`; an invalid step allows all.
fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (number.as_i128(), step.as_i128()) {
        return step <= 0 || number % step == 0;
    }
    match (number.as_f64(), step.as_f64()) {
        (Some(number), Some(step)) if step > 0.0 => {
            let times = number / step;
            // 0.3 is a multiple of 0.1, but not in floating point.
            (times - times.round()).abs() <= f64::EPSILON * times.abs() * 2.0
        }
        _ => true,
    }
}
