//! The file of a client, edited without a change to the rest of it.

use crate::client::Format;
use crate::json::Json;
use crate::toml::Toml;
use serde_json::{Map, Value};

/// A parsed file.
pub(crate) enum Document {
    Json(Json),
    Toml(Toml),
}

impl Document {
    /// Parses a file. One that has nothing but white space is as good as none.
    ///
    /// # Errors
    /// The syntax is wrong; the error names the line.
    pub(crate) fn parse(format: Format, text: &str) -> Result<Self, String> {
        match format {
            Format::Json => Json::parse(text, false).map(Self::Json),
            Format::Jsonc => Json::parse(text, true).map(Self::Json),
            Format::Toml => Toml::parse(text).map(Self::Toml),
        }
    }

    /// The member at the end of `keys`.
    pub(crate) fn get(&self, keys: &[String]) -> Option<Value> {
        keys.iter().try_fold(self.value(), |value, key| value.get(key).cloned())
    }

    fn value(&self) -> Value {
        match self {
            Self::Json(json) => json.value(),
            Self::Toml(toml) => toml.value(),
        }
    }

    /// Sets members of the object at the end of `keys`. Other members of it stay, and objects on the way to it are made.
    ///
    /// # Errors
    /// A member on the way is no object.
    pub(crate) fn set(
        &mut self,
        keys: &[String],
        members: &Map<String, Value>,
    ) -> Result<(), String> {
        let before = without(self.value(), keys);
        match self {
            Self::Json(json) => json.set(keys, members)?,
            Self::Toml(toml) => toml.set(keys, members)?,
        }
        self.check(&before, keys)?;
        // Of a key that occurs twice, readers take the last.
        let entry = self.get(keys).unwrap_or_default();
        match members.iter().all(|(name, value)| entry.get(name) == Some(value)) {
            true => Ok(()),
            false => Err(format!("a key of {} occurs twice in it", keys.join("."))),
        }
    }

    /// Removes the member at the end of `keys`.
    ///
    /// # Errors
    /// The rest of the file would change.
    pub(crate) fn remove(&mut self, keys: &[String]) -> Result<(), String> {
        let before = without(self.value(), keys);
        match self {
            Self::Json(json) => json.remove(keys),
            Self::Toml(toml) => toml.remove(keys),
        }
        self.check(&before, keys)
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Json(json) => json.text(),
            Self::Toml(toml) => toml.text(),
        }
    }

    /// The edited text must parse, and have everything else that it had.
    fn check(&self, before: &Value, keys: &[String]) -> Result<(), String> {
        let text = self.text();
        let format = match self {
            Self::Json(_) => Format::Jsonc,
            Self::Toml(_) => Format::Toml,
        };
        match Self::parse(format, &text) {
            Ok(after) if without(after.value(), keys) == *before => Ok(()),
            _ => {
                Err("it cannot be edited without a change to the rest; edit it by hand".to_owned())
            }
        }
    }
}

/// The value without the member at the end of `keys`, and without objects that this leaves empty.
fn without(mut value: Value, keys: &[String]) -> Value {
    fn take_out(value: &mut Value, keys: &[String]) {
        let ([key, rest @ ..], Some(object)) = (keys, value.as_object_mut()) else { return };
        if let Some(member) = object.get_mut(key) {
            take_out(member, rest);
            if rest.is_empty() || member.as_object().is_some_and(Map::is_empty) {
                object.shift_remove(key);
            }
        }
    }
    take_out(&mut value, keys);
    value
}
