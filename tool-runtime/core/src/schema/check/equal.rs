//! When two JSON values are the same.

use serde_json::{Map, Number, Value};

use crate::schema::check::number;

/// Whether two values are equal as the standard has it: numbers by what they are worth, so 1 is 1.0.
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
    let whole = number.as_f64().filter(|_| number.is_f64()).and_then(number::whole);
    whole.and_then(Number::from_i128).unwrap_or_else(|| number.clone())
}
