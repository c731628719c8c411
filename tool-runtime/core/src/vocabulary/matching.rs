//! Patterns of arguments: `git *` for a command, `src/**` for a path, `domain:example.com` for a URL.
//!
//! A pattern is compared with the text of one argument. Whatever is not certain is
//! [`ArgumentMatch::Undecidable`], which allows nothing and denies everything.

pub(crate) mod argument;
pub(crate) mod declaration;
mod path;
pub(crate) mod pattern;
mod url;

#[cfg(test)]
mod tests;

pub(crate) use argument::text_of;
pub use declaration::{Declaration, Declarations};
pub use path::PathMatcher;
pub use pattern::{PatternError, ToolPattern};
pub use url::UrlMatcher;

use crate::vocabulary::error::CallError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of text that an argument holds, and with it the syntax of patterns for it.
///
/// ```
/// use tool_runtime::matching::MatchAs;
///
/// assert_eq!(MatchAs::Shell.to_string(), "shell");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MatchAs {
    /// A command line of a shell: `git *`. Needs the feature `shell`, see [`ArgumentMatcher`].
    Shell,
    /// A path of a file, see [`PathMatcher`].
    Path,
    /// A URL, see [`UrlMatcher`].
    Url,
}

impl fmt::Display for MatchAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shell => "shell",
            Self::Path => "path",
            Self::Url => "url",
        })
    }
}

/// Result of comparing the text of an argument with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "only `Yes` allows a call"]
pub enum ArgumentMatch {
    /// The pattern describes the text.
    Yes,
    /// The pattern does not describe the text.
    No,
    /// The text may have other effects, for a reason that a model reads. It is not allowed where
    /// only matches are, and denied where matches are denied.
    Undecidable(String),
}

/// Compiles the patterns of one kind of argument.
///
/// A pool has matchers for paths and URLs. One for commands is in the feature `shell`:
/// `.argument_matcher(tool_runtime::shell::ShellMatcher)`. Without it, a pattern of commands allows
/// nothing.
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime::matching::{ArgumentMatch, ArgumentMatcher, MatchAs, Matcher, PatternError};
///
/// /// Takes patterns as literal commands.
/// struct Literal;
///
/// struct Is(String);
///
/// impl ArgumentMatcher for Literal {
///     fn kind(&self) -> MatchAs { MatchAs::Shell }
///
///     fn compile(&self, pattern: &str) -> Result<Box<dyn Matcher>, PatternError> {
///         Ok(Box::new(Is(pattern.to_owned())))
///     }
/// }
///
/// impl Matcher for Is {
///     fn matches(&self, text: &str) -> ArgumentMatch {
///         if text == self.0 { ArgumentMatch::Yes } else { ArgumentMatch::No }
///     }
/// }
///
/// let pool = ToolPool::builder().argument_matcher(Literal).allow_empty().build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub trait ArgumentMatcher: Send + Sync + 'static {
    /// The kind of argument.
    fn kind(&self) -> MatchAs;

    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError::Argument`]: the text is not a valid pattern of this kind.
    fn compile(&self, pattern: &str) -> Result<Box<dyn Matcher>, PatternError>;
}

/// A compiled pattern of an [`ArgumentMatcher`].
pub trait Matcher: Send + Sync {
    /// Compares the text of an argument with the pattern.
    fn matches(&self, text: &str) -> ArgumentMatch;

    /// The parts of a string, at least one, such as the commands of a line. Several patterns allow a string if each part is
    /// harmless or matches one of them. The same for all patterns of a kind. Default: the text itself.
    fn parts<'t>(&self, text: &'t str) -> Vec<ArgumentPart<'t>> {
        vec![ArgumentPart { text, is_harmless: false }]
    }
}

/// A part of the text of an argument, see [`Matcher::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentPart<'t> {
    /// The part.
    pub text: &'t str,
    /// Whether no pattern need allow the part. One that denies it counts.
    pub is_harmless: bool,
}

/// Decides about the arguments of calls of one tool.
pub(crate) trait CallRule: Send + Sync {
    /// Checks the arguments of a call, as JSON text.
    ///
    /// # Errors
    /// The call is not allowed with these arguments.
    fn check(&self, arguments: &str) -> Result<(), CallError>;
}

/// The text of an argument, if it is certain what the tool will read.
#[doc(hidden)]
pub fn argument_text(arguments: &str, name: &str) -> Option<String> {
    // The kind does not matter for reading.
    text_of(arguments, &MatchedArgument::new(name, MatchAs::Path)).ok()
}

/// The argument of a tool that patterns are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchedArgument {
    pub(crate) name: String,
    /// Other names under which the argument is accepted.
    pub(crate) aliases: Vec<String>,
    pub(crate) kind: MatchAs,
}

impl MatchedArgument {
    pub(crate) fn new(name: impl Into<String>, kind: MatchAs) -> Self {
        Self { name: name.into(), aliases: Vec::new(), kind }
    }
}

/// The error of an invalid pattern.
fn invalid(kind: MatchAs, pattern: &str, reason: impl Into<String>) -> PatternError {
    PatternError::Argument { kind, pattern: pattern.to_owned(), reason: reason.into() }
}
