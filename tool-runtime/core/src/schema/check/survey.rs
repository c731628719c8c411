//! Finds out which rare keywords a document uses, so that others cost nothing.

use super::secrets::is_secret;
use serde_json::Value;

/// The rare keywords that occur anywhere in a schema.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    /// `writeOnly` is used.
    pub(super) write_only: bool,
    /// `unevaluatedProperties` is used.
    pub(super) unevaluated: bool,
}

impl Survey {
    /// Looks at every object of the document, schema or not.
    pub(super) fn of(document: &Value) -> Self {
        let mut survey = Self::default();
        for value in everything(document) {
            if let Value::Object(object) = value {
                survey.write_only |= is_secret(object);
                survey.unevaluated |= object.contains_key("unevaluatedProperties");
            }
        }
        survey
    }
}

/// The number of values in a value, itself included.
pub(super) fn size(value: &Value) -> u64 {
    everything(value).count() as u64
}

/// A value and all values inside it, without recursion.
pub(super) fn everything(value: &Value) -> impl Iterator<Item = &Value> {
    let mut waiting = vec![value];
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        match next {
            Value::Array(items) => waiting.extend(items),
            Value::Object(object) => waiting.extend(object.values()),
            _ => {}
        }
        Some(next)
    })
}
