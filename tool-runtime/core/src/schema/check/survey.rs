//! A first look over a document, so that rare keywords cost nothing where they are not used.

use serde_json::Value;

/// Which rare keywords a schema has anywhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    /// Some values are not to be shown.
    pub(super) write_only: bool,
    /// Some schema asks what others have evaluated.
    pub(super) unevaluated: bool,
}

impl Survey {
    /// Looks at every object of the document, schema or not.
    pub(super) fn of(document: &Value) -> Self {
        let mut survey = Self::default();
        for value in everything(document) {
            if let Value::Object(object) = value {
                survey.write_only |= object.get("writeOnly") == Some(&Value::Bool(true));
                survey.unevaluated |= object.contains_key("unevaluatedProperties")
                    || object.contains_key("unevaluatedItems");
            }
        }
        survey
    }
}

/// How many values there are in a value, itself included.
pub(super) fn size(value: &Value) -> u64 {
    everything(value).count() as u64
}

/// A value and all that it holds, without recursion.
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
