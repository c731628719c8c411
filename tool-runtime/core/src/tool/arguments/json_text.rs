//! The arguments of a call as JSON text, which is decoded once, directly into the action.

use super::decode_error::{DecodeError, DecodeFailure};
use super::reader::{ArgumentReader, Key};
use super::schemas;
use super::tracked::{Flags, Tracked};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// The arguments of a call as unparsed JSON text.
///
/// ```
/// use tool_runtime::tool::Arguments;
///
/// #[derive(serde::Deserialize)]
/// struct Add { a: i64 }
///
/// let add: Add = Arguments::new(r#"{"a": 2}"#).parse()?;
/// assert_eq!(add.a, 2);
/// # Ok::<(), tool_runtime::tool::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    text: &'a str,
}

impl<'a> Arguments<'a> {
    /// Wraps JSON text without checking it. Empty text means no arguments.
    pub fn new(text: &'a str) -> Self {
        let is_empty = text.trim_ascii().is_empty();
        Self { text: if is_empty { "{}" } else { text } }
    }

    /// The unchanged text.
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// Decodes them with serde.
    ///
    /// # Errors
    /// The arguments do not match.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        self.tracked(&Flags::default())
    }

    /// Decodes them as a type whose schema is advertised: unknown fields inside are rejected.
    pub(crate) fn parse_closed<T: DeserializeOwned + JsonSchema>(&self) -> Result<T, DecodeError> {
        let flags = Flags::default();
        let value = self.tracked(&flags)?;
        if flags.ignored.get() && !schemas::allows_ignored::<T>(self.text) {
            return Err(DecodeError::new(DecodeFailure::Ignored(0)));
        }
        Ok(value)
    }

    fn tracked<T: DeserializeOwned>(&self, flags: &Flags) -> Result<T, DecodeError> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        let value = T::deserialize(Tracked::new(&mut json, flags));
        value
            .and_then(|value| json.end().map(|()| value))
            .map_err(|error| DecodeError::from_serde(&error))
    }

    /// Starts to read them key by key.
    ///
    /// # Errors
    /// If they are not an object.
    #[doc(hidden)]
    pub fn reader<'k>(self, keys: &'k [Key]) -> Result<ArgumentReader<'a, 'k>, DecodeError> {
        ArgumentReader::new(self.text, keys)
    }
}
