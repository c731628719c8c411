//! The types of JSON values, and the keyword `type`.

use crate::schema::check::location::Location;
use crate::schema::check::wording;
use crate::vocabulary::error::Issue;
use serde_json::{Map, Number, Value};

/// The types of JSON values in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The narrowest type of a value.
    ///
    /// JSON Schema counts 1.0 as an integer. serde does not decode 1.0 as one, so it counts as a number here.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.as_i128().is_some() || is_negative_zero(number) => {
                Self::Integer
            }
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The type that a schema calls `name`.
    fn named(name: &str) -> Option<Self> {
        use Kind::{Array, Boolean, Integer, Null, Number, Object, String};
        let kinds = [Null, Boolean, Integer, Number, String, Array, Object];
        kinds.into_iter().find(|kind| kind.name() == name)
    }

    /// The name of the type in a schema.
    pub(super) fn name(self) -> &'static str {
        let phrase = self.with_article();
        phrase.split_once(' ').map_or(phrase, |(_, name)| name)
    }

    /// The name of the type with its article, for sentences.
    pub(super) fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    /// Whether a value of this type can be equal to one of the other type: 1 is 1.0.
    pub(super) fn may_equal(self, other: Self) -> bool {
        let is_number = |kind| matches!(kind, Self::Integer | Self::Number);
        self == other || (is_number(self) && is_number(other))
    }

    /// Whether a value of this type is one of type `wanted` too.
    pub(super) fn is(self, wanted: Self) -> bool {
        self == wanted || (self == Self::Integer && wanted == Self::Number)
    }
}

/// Whether the number is `-0`, which serde_json reads as a float.
fn is_negative_zero(number: &Number) -> bool {
    number.as_f64().is_some_and(|number| number == 0.0 && number.is_sign_negative())
}

/// The types that a schema's own `type` allows; `None` if it allows all.
pub(super) fn of_schema(schema: &Map<String, Value>) -> Option<Vec<Kind>> {
    let kinds: Vec<Kind> = match schema.get("type")? {
        Value::String(name) => Kind::named(name).into_iter().collect(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).filter_map(Kind::named).collect()
        }
        _ => Vec::new(),
    };
    // An unknown type is ignored, like an unknown keyword.
    (!kinds.is_empty()).then_some(kinds)
}

/// Whether the schema's own `type` could allow a value of this type.
pub(super) fn admits(schema: &Map<String, Value>, kind: Kind) -> bool {
    of_schema(schema).is_none_or(|kinds| kinds.iter().any(|wanted| kind.is(*wanted)))
        || (kind == Kind::Number && has_wide_format(schema))
}

/// Whether the schema requires a 128-bit integer.
pub(super) fn has_wide_format(schema: &Map<String, Value>) -> bool {
    matches!(schema.get("format").and_then(Value::as_str), Some("int128" | "uint128"))
}

/// Checks the keyword `type`.
pub(super) fn check(
    schema: &Map<String, Value>,
    value: &Value,
    at: &Location<'_>,
) -> Option<Issue> {
    let kinds = of_schema(schema)?;
    let kind = Kind::of(value);
    if kinds.iter().any(|wanted| kind.is(*wanted)) || may_be_wide_integer(schema, value, at) {
        return None;
    }
    let words: Vec<String> = kinds.iter().map(|kind| kind.with_article().to_owned()).collect();
    let got = wording::got_kind(value, at);
    let hint = if kinds.contains(&Kind::Integer) { integer_hint(value, at) } else { String::new() };
    let message = format!("{} must be {}{got}{hint}", at.subject(), wording::either(&words));
    Some(Issue::new(at.path(), "type", message))
}

/// Advice for a number that should be an integer.
fn integer_hint(value: &Value, at: &Location<'_>) -> String {
    match value.as_f64() {
        _ if at.is_secret() => String::new(),
        Some(number) if number.fract() != 0.0 => String::new(),
        Some(number) if number.abs() < 1e15 => format!("; write {number}"),
        Some(_) => "; it must fit in 64 bits and have neither fraction nor exponent".to_owned(),
        None => String::new(),
    }
}

/// Whether the number may be an integer of 128 bits, which `Value` keeps as a float.
///
/// The schema of a result does not define the width of its integers.
fn may_be_wide_integer(schema: &Map<String, Value>, value: &Value, at: &Location<'_>) -> bool {
    let is_wide = |number: f64| number.fract() == 0.0 && number.abs() >= 2_f64.powi(63);
    (has_wide_format(schema) || at.is_in_result())
        && admits(schema, Kind::Integer)
        && value.is_f64()
        && value.as_f64().is_some_and(is_wide)
}
