//! Here-documents without expansion: `<<'END'`, or `<<END` with a string that the shell does not change.

use super::redirection::ends;
use crate::reason::Reason;

pub(super) struct Heredoc<'t> {
    delimiter: &'t str,
    strips_tabs: bool,
    is_expanded: bool,
}

/// The here-document whose operator the text begins with, and the length of operator and delimiter.
///
/// # Errors
/// The delimiter is more than a plain or a quoted name.
pub(super) fn read(text: &str) -> Result<(Heredoc<'_>, usize), Reason> {
    let strips_tabs = text.starts_with("<<-");
    let word = text[if strips_tabs { 3 } else { 2 }..].trim_start_matches(' ');
    let quote = word.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let name = &word[quote.map_or(0, char::len_utf8)..];
    let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    let (delimiter, rest) = name.split_at(length);
    let rest = match quote {
        Some(quote) => rest.strip_prefix(quote),
        None => Some(rest),
    };
    match rest.filter(|rest| !delimiter.is_empty() && ends(rest)) {
        Some(rest) => {
            let document = Heredoc { delimiter, strips_tabs, is_expanded: quote.is_none() };
            Ok((document, text.len() - rest.len()))
        }
        None => Err(Reason::Construct("a here-document whose end is not a plain name")),
    }
}

pub(super) fn unfinished() -> Reason {
    Reason::Construct("a here-document without its end")
}

impl Heredoc<'_> {
    /// The length of the document at the beginning of a string, with the line of its delimiter.
    ///
    /// # Errors
    /// There is no such line, or the document has expansions or control characters.
    pub(super) fn length(&self, text: &str) -> Result<usize, Reason> {
        let mut length = 0;
        for line in text.split_inclusive('\n') {
            length += line.len();
            let content = line.strip_suffix('\n').unwrap_or(line);
            let stripped = content.trim_start_matches('\t');
            if self.delimiter == if self.strips_tabs { stripped } else { content } {
                return Ok(length);
            }
            self.check(content)?;
        }
        Err(unfinished())
    }

    fn check(&self, line: &str) -> Result<(), Reason> {
        if self.is_expanded && line.contains(['$', '`', '\\']) {
            return Err(Reason::Construct("a here-document with an expansion"));
        }
        match line.chars().find(|c| c.is_control() && *c != '\t') {
            Some(c) => Err(Reason::ControlCharacter(c)),
            None => Ok(()),
        }
    }
}
