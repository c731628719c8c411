//! The reason why arguments did not decode.

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

    pub(super) fn from_serde(error: &serde_json::Error) -> Self {
        let text = without_position(error);
        Self::new(match error.classify() {
            serde_json::error::Category::Data => DecodeFailure::Type(text),
            _ => DecodeFailure::Malformed(text),
        })
    }
}

/// serde's message without "at line 1 column 12", which is of no use to a model.
pub(super) fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
