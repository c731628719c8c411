//! Redirections that read and write no file: `2>&1`, `> /dev/null`, `< /dev/null`, here-documents.

use super::heredoc::{self, Heredoc};
use crate::reason::Reason;

const DUPLICATES: &[&str] = &["2>&1", "1>&2", ">&1", ">&2"];

const TO_FILES: &[&str] = &["&>>", "&>", "1>>", "2>>", ">>", "1>", "2>", ">", "<"];

pub(super) enum Redirection<'t> {
    Harmless,
    Document(Heredoc<'t>),
}

impl<'t> Redirection<'t> {
    pub(super) fn document(self) -> Option<Heredoc<'t>> {
        match self {
            Self::Document(document) => Some(document),
            Self::Harmless => None,
        }
    }
}

/// The redirection at the beginning of a string that begins with a word, and its length. `None` if there is no harmless
/// one.
///
/// # Errors
/// A here-document that the shell expands.
pub(super) fn read(text: &str) -> Result<Option<(Redirection<'_>, usize)>, Reason> {
    if text.starts_with("<<") && !text.starts_with("<<<") {
        let (document, length) = heredoc::read(text)?;
        return Ok(Some((Redirection::Document(document), length)));
    }
    let rest = duplicate(text).or_else(|| of_null(text));
    Ok(rest.filter(|rest| ends(rest)).map(|rest| (Redirection::Harmless, text.len() - rest.len())))
}

fn duplicate(text: &str) -> Option<&str> {
    DUPLICATES.iter().find_map(|operator| text.strip_prefix(operator))
}

fn of_null(text: &str) -> Option<&str> {
    let rest = TO_FILES.iter().find_map(|operator| text.strip_prefix(operator))?;
    rest.trim_start_matches(' ').strip_prefix("/dev/null")
}

/// Whether a word ends before the text.
pub(super) fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\n', ';', '|', '&'])
}
