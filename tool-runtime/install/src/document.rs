//! The file of a client, edited without a change to the rest of it.

use crate::client::Format;
use crate::json::Json;
use crate::toml::Toml;
use serde_json::{Map, Value};

const BOM: char = '\u{feff}';

/// A parsed file.
pub(crate) struct Document {
    syntax: Syntax,
    has_bom: bool,
}

enum Syntax {
    Json(Json),
    Toml(Toml),
}

impl Document {
    /// Parses a file. One that has nothing but white space is as good as none.
    ///
    /// # Errors
    /// The syntax is wrong; the error names the line.
    pub(crate) fn parse(format: Format, text: &str) -> Result<Self, String> {
        let unmarked = text.strip_prefix(BOM);
        let body = unmarked.unwrap_or(text);
        let syntax = match format {
            Format::Json => Json::parse(body, false).map(Syntax::Json),
            Format::Jsonc => Json::parse(body, true).map(Syntax::Json),
            Format::Toml => Toml::parse(body).map(Syntax::Toml),
        };
        Ok(Self { syntax: syntax?, has_bom: unmarked.is_some() })
    }

    /// The member at the end of `keys`.
    pub(crate) fn get(&self, keys: &[String]) -> Option<Value> {
        keys.iter().try_fold(self.value(), |value, key| value.get(key).cloned())
    }

    fn value(&self) -> Value {
        match &self.syntax {
            Syntax::Json(json) => json.value(),
            Syntax::Toml(toml) => toml.value(),
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
        match &mut self.syntax {
            Syntax::Json(json) => json.set(keys, members)?,
            Syntax::Toml(toml) => toml.set(keys, members)?,
        }
        self.check(&before, keys)?;
        // Readers take the last of two equal keys.
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
        match &mut self.syntax {
            Syntax::Json(json) => json.remove(keys),
            Syntax::Toml(toml) => toml.remove(keys),
        }
        self.check(&before, keys)
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let text = match &self.syntax {
            Syntax::Json(json) => json.text(),
            Syntax::Toml(toml) => toml.text(),
        };
        if self.has_bom { format!("{BOM}{text}") } else { text }
    }

    /// The edited text must parse, and have everything else that it had.
    fn check(&self, before: &Value, keys: &[String]) -> Result<(), String> {
        let text = self.text();
        let format = match self.syntax {
            Syntax::Json(_) => Format::Jsonc,
            Syntax::Toml(_) => Format::Toml,
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
