//! Strings that are never printed.

pub(crate) mod name;
#[cfg(feature = "redact")]
pub(crate) mod redactor;

use std::fmt;

/// A text that is never printed: a token, a password, the value of an environment variable.
///
/// `Debug` shows `Secret(..)`, and there is neither `Display` nor `Serialize`. Code that needs the
/// text requests it by [`expose`](Self::expose), so that every such use can be found.
///
/// ```
/// use tool_runtime::Secret;
///
/// let token = Secret::from("8fQm2x");
/// assert_eq!(format!("{token:?}"), "Secret(..)");
/// assert_eq!(token.expose(), "8fQm2x");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text that must not be printed.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}
