//! Validates globs over ids. The matcher itself reports no mistakes.

use super::PatternError;
use crate::vocabulary::name;
use fast_glob::ErrorKind;
use std::iter::Peekable;
use std::str::CharIndices;

/// Whether the text has characters that vary; otherwise it is an id.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}'])
}

/// # Errors
/// The first mistake.
pub(super) fn check(glob: &str) -> Result<(), PatternError> {
    if glob.is_empty() {
        return Err(PatternError::Empty);
    }
    if let Some((index, character)) = foreign(glob) {
        let at = character_position(glob, index);
        return Err(PatternError::Foreign { pattern: glob.to_owned(), at, character });
    }
    fast_glob::validate(glob).map_err(|error| to_pattern_error(glob, error))
}

/// The first character outside classes that is neither glob syntax nor part of any id, such as a
/// leading `!`, which would negate the glob, or an unmatched `}`.
fn foreign(glob: &str) -> Option<(usize, char)> {
    let mut depth = 0_usize;
    let mut characters = glob.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        match character {
            '*' | '?' => {}
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            '[' => {
                if let Some(escape) = skip_class(&mut characters) {
                    return Some(escape);
                }
            }
            other if name::is_allowed(other) => {}
            _ => return Some((index, character)),
        }
    }
    None
}

/// Skips the rest of a class, and returns an escape in it, since the end of the class would depend
/// on the escape. The first character never ends a class.
fn skip_class(characters: &mut Peekable<CharIndices<'_>>) -> Option<(usize, char)> {
    characters.next_if(|(_, character)| matches!(character, '!' | '^'));
    let mut is_first = true;
    for (index, character) in characters {
        match character {
            '\\' => return Some((index, character)),
            ']' if !is_first => return None,
            _ => is_first = false,
        }
    }
    None
}

fn to_pattern_error(glob: &str, error: fast_glob::Error) -> PatternError {
    let (pattern, at) = (glob.to_owned(), character_position(glob, error.index));
    match error.kind {
        ErrorKind::UnclosedBrace => PatternError::Unclosed { pattern, at, open: '{' },
        ErrorKind::UnclosedBracket => PatternError::Unclosed { pattern, at, open: '[' },
        _ => PatternError::Glob { pattern, at, reason: error.to_string() },
    }
}

/// The number of the character at a byte, counted from 1.
fn character_position(text: &str, index: usize) -> usize {
    text.get(..index).unwrap_or(text).chars().count() + 1
}
