//! The types of JSON values, and those that a schema allows.

use serde_json::{Map, Number, Value};

/// The types of JSON values as schemas know them.
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
    /// The standard calls 1.0 an integer. serde does not decode it as one, so it is none here: the message says so
    /// before the call fails without one.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.as_i128().is_some() || is_zero(number) => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The type that a schema calls `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// What schemas call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// What a sentence calls it.
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

/// Whether it is `-0`, which serde_json reads as a float.
fn is_zero(number: &Number) -> bool {
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
    // A type that nobody knows is an unknown keyword.
    (!kinds.is_empty()).then_some(kinds)
}

/// Whether the schema's own `type` could allow a value of this type.
pub(super) fn admits(schema: &Map<String, Value>, kind: Kind) -> bool {
    of_schema(schema).is_none_or(|kinds| kinds.iter().any(|wanted| kind.is(*wanted)))
        || (kind == Kind::Number && has_wide_format(schema))
}

/// Whether the schema asks for an integer of 128 bits.
pub(super) fn has_wide_format(schema: &Map<String, Value>) -> bool {
    matches!(schema.get("format").and_then(Value::as_str), Some("int128" | "uint128"))
}
