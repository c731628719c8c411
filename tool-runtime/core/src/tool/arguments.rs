//! The arguments of a call: JSON text that is decoded once, directly into the action.

mod effective;
mod members;
pub(crate) mod probe;
mod reader;
mod tracked;

pub use effective::{EffectiveArgument, EffectiveArguments};
pub use members::{RawMembers, push_member};
pub(crate) use reader::absent;
pub use reader::{ArgumentReader, Key, required};

use crate::tool::schemas;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tracked::{Flags, Tracked};

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

/// The reason why arguments did not decode.
///
/// Decoding stops at the first failure. The tool's schema is then walked to find every mistake and to describe it for
/// the model.
///
/// ```
/// use tool_runtime::tool::Arguments;
///
/// let error = Arguments::new("[1]").parse::<String>().unwrap_err();
/// assert!(error.to_string().contains("expected a string"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DecodeError(Box<DecodeFailure>);

/// The failure at which decoding stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeFailure {
    /// Not an object, or not JSON at all.
    #[error("{0}")]
    Malformed(String),
    /// A key that no parameter has.
    #[error("unknown argument `{0}`")]
    Unknown(String),
    /// A duplicate key.
    #[error("argument {0} is given twice")]
    Repeated(usize),
    /// A value of another type than the parameter.
    #[error("argument {0}: {1}")]
    Value(usize, String),
    /// A parameter that needs a value and has none.
    #[error("argument {0} is missing")]
    Missing(usize),
    /// A value that breaks the parameter's constraint.
    #[error("argument {0} breaks a constraint")]
    Constraint(usize),
    /// JSON that the parameter's type does not read to its end: a 128-bit integer with a fraction or an exponent.
    #[error("argument {0}: {1}")]
    Number(usize, String),
    /// Keys inside a value that its type ignores.
    #[error("argument {0} has unknown fields")]
    Ignored(usize),
    /// A type's own decoding failed.
    #[error("{0}")]
    Type(String),
}

impl DecodeError {
    pub(crate) fn new(stumble: DecodeFailure) -> Self {
        Self(Box::new(stumble))
    }

    pub(crate) fn failure(&self) -> &DecodeFailure {
        &self.0
    }

    fn from_serde(error: &serde_json::Error) -> Self {
        let text = without_position(error);
        Self::new(match error.classify() {
            serde_json::error::Category::Data => DecodeFailure::Type(text),
            _ => DecodeFailure::Malformed(text),
        })
    }
}

/// serde's message without "at line 1 column 12", which is of no use to a model.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
