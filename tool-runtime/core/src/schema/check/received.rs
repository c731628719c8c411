//! Words for the value that an argument has.

use crate::schema::check::kind::Kind;
use crate::schema::check::place::Place;
use crate::schema::check::wording::{LONGEST_TEXT, cut, quoted};
use serde_json::Value;

/// A value in a sentence. What arrays and objects hold is never shown: it is long, and parts of it may be secret.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => Kind::of(value).with_article().to_owned(),
        _ => cut(&value.to_string(), LONGEST_TEXT),
    }
}

/// ", got 80", or nothing if the value is secret.
pub(super) fn got(value: &Value, at: &Place<'_>) -> String {
    if at.is_secret() { String::new() } else { format!(", got {}", shown(value)) }
}

/// ", got the string \"x\"", for those who expected another type.
pub(super) fn got_kind(value: &Value, at: &Place<'_>) -> String {
    let kind = Kind::of(value);
    match kind {
        _ if at.is_secret() => String::new(),
        Kind::String | Kind::Boolean => format!(", got the {} {}", kind.name(), shown(value)),
        _ => got(value, at),
    }
}

/// ", got 3", for a number of things that is wrong, or nothing if they are secret.
pub(super) fn got_count(count: usize, at: &Place<'_>) -> String {
    if at.is_secret() { String::new() } else { format!(", got {count}") }
}
