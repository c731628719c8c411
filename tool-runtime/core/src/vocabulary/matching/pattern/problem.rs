//! Errors of patterns.

use crate::vocabulary::matching::MatchAs;
use std::convert::Infallible;

/// A text is not a valid [`ToolPattern`](crate::vocabulary::matching::ToolPattern): the mistake, its position, and the correction.
///
/// Positions are characters, counted from 1.
///
/// ```
/// use tool_runtime::matching::{PatternError, ToolPattern};
///
/// let error = "fs/*".parse::<ToolPattern>().unwrap_err();
/// assert!(matches!(error, PatternError::Foreign { at: 3, character: '/', .. }));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is empty.
    #[error("an empty pattern matches no tool; write a tool's id, or `*` for every tool")]
    Empty,
    /// A bracket, brace or slash is opened and not closed.
    #[error("`{open}` at character {at} of `{pattern}` is never closed; add `{}`", closing(*open))]
    Unclosed {
        /// The whole text.
        pattern: String,
        /// The position of the opening character.
        at: usize,
        /// The opening bracket.
        open: char,
    },
    /// A character that no id has, and that means nothing at this position of a glob.
    #[error(
        "{character:?} at character {at} of `{pattern}` is not allowed in a tool id; ids consist of `A-Z a-z 0-9 _ - .`, write `*`, `?`, `[abc]` or `{{a,b}}` for what varies, or a regular expression as `/../`{}",
        otherwise(*character)
    )]
    Foreign {
        /// The whole text.
        pattern: String,
        /// The position of the character.
        at: usize,
        /// The character.
        character: char,
    },
    /// A glob that exceeds a limit of the matcher.
    #[error(
        "the glob `{pattern}` cannot be matched from character {at} on: {reason}; write a regular expression, as in `/^fs\\.(read|list)$/`"
    )]
    Glob {
        /// The whole text.
        pattern: String,
        /// The position at which the limit is exceeded.
        at: usize,
        /// The reason.
        reason: String,
    },
    /// A pattern of an argument that its [`ArgumentMatcher`](crate::vocabulary::matching::ArgumentMatcher) rejects.
    #[error("`{pattern}` is not a valid {kind} pattern: {reason}")]
    Argument {
        /// The kind of argument.
        kind: MatchAs,
        /// The pattern.
        pattern: String,
        /// The reason.
        reason: String,
    },
    /// A regular expression that does not parse or is too large.
    #[error(
        "bad regular expression `/{pattern}/`: {reason}; write it in the syntax of crate `regex`"
    )]
    Regex {
        /// The expression, without slashes.
        pattern: String,
        /// The reason, and its position.
        reason: String,
    },
}

crate::debug_as_message!(PatternError);

/// The conversion of a pattern to itself, which does not fail.
#[diagnostic::do_not_recommend]
impl From<Infallible> for PatternError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

fn closing(open: char) -> char {
    match open {
        '[' => ']',
        '{' => '}',
        same => same,
    }
}

/// Filters also accept selectors, which look like patterns.
fn otherwise(character: char) -> &'static str {
    match character {
        ':' => "; `tag:..`, `hint:..` and `source:..` are for `allow` and `deny` alone",
        _ => "",
    }
}
