//! Guidance in a description for keywords that an API does not take.

use serde_json::{Map, Value};

/// A keyword of more bytes is not described.
const MAX_DESCRIBED: usize = 1000;

/// Keywords moved into the description, in the format of the official libraries: `{minimum: 1, maximum: 9}`.
#[derive(Default)]
pub(super) struct Guidance(Vec<String>);

impl Guidance {
    /// Adds a keyword. False if it is too long to be described.
    pub(super) fn add(&mut self, keyword: &str, value: &Value) -> bool {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let is_short = text.len() <= MAX_DESCRIBED;
        if is_short {
            self.0.push(format!("{keyword}: {text}"));
        }
        is_short
    }

    /// Appends the keywords to the description of a schema.
    pub(super) fn append_to(self, schema: &mut Map<String, Value>) {
        if self.0.is_empty() {
            return;
        }
        let guidance = format!("{{{}}}", self.0.join(", "));
        let text = match schema.get("description").and_then(Value::as_str) {
            Some(text) if !text.is_empty() => format!("{text}\n\n{guidance}"),
            _ => guidance,
        };
        schema.insert("description".to_owned(), Value::String(text));
    }
}
