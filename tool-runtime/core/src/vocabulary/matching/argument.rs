//! Reads one argument of a call.

use super::MatchedArgument;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// The text of an argument. A duplicate key is an error, because the tool may read the other value.
///
/// # Errors
/// The reason why the argument has no text, as a phrase about it.
pub(crate) fn text_of(arguments: &str, argument: &MatchedArgument) -> Result<String, String> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let mut json = serde_json::Deserializer::from_str(arguments);
    let values =
        Values(argument).deserialize(&mut json).and_then(|values| json.end().map(|()| values));
    let mut values = values.map_err(|_| "is unreadable: the arguments are not a JSON object")?;
    match (values.pop(), values.is_empty()) {
        (None | Some(Value::Null), true) => Err("is absent; write it".to_owned()),
        (Some(Value::String(text)), true) => Ok(text),
        (_, true) => Err("is not a string".to_owned()),
        (_, false) => Err("is given more than once".to_owned()),
    }
}

/// The values of all keys that are names of the argument.
struct Values<'a>(&'a MatchedArgument);

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<Value>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Value>, A::Error> {
        let MatchedArgument { name, aliases, .. } = self.0;
        let mut values = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == *name || aliases.contains(&key) {
                values.push(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(values)
    }
}
