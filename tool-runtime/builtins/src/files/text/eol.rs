//! Line endings.

use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// The line endings of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Eol {
    /// No line ends.
    None,
    /// `\n`.
    Lf,
    /// `\r\n`.
    Crlf,
    /// `\r`, as old Macs wrote it.
    Cr,
    /// `\n` and `\r\n`.
    Mixed,
}

impl Eol {
    pub(in crate::files) fn from_text(text: &str) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let pairs = memchr::memmem::find_iter(text.as_bytes(), "\r\n").count();
        match (feeds, pairs) {
            (0, _) if text.contains('\r') => Self::Cr,
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            _ if feeds == pairs => Self::Crlf,
            _ => Self::Mixed,
        }
    }

    /// The ending of new lines in a file; if there are several, the neighbours decide.
    fn of_new_lines(self) -> &'static str {
        match self {
            Self::None | Self::Lf | Self::Mixed => "\n",
            Self::Crlf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// A text with `\n` at the end of each line, and the offsets of its lines in the original.
#[derive(Debug)]
pub(in crate::files) struct LfView<'t> {
    /// The original.
    pub(in crate::files) raw: &'t str,
    /// The text with `\n` alone.
    pub(in crate::files) text: Cow<'t, str>,
    /// The ending of new lines, unless the file has several.
    newline: &'static str,
    is_mixed: bool,
    /// Offsets in `text` of each `\n` that is `\r\n` in the original.
    pairs: Vec<usize>,
}

impl<'t> LfView<'t> {
    pub(in crate::files) fn from_raw(raw: &'t str) -> Self {
        let eol = Eol::from_text(raw);
        let (newline, is_mixed) = (eol.of_new_lines(), eol == Eol::Mixed);
        match eol {
            Eol::Cr => {
                let text = raw.replace('\r', "\n").into();
                Self { raw, text, newline, is_mixed, pairs: Vec::new() }
            }
            Eol::None | Eol::Lf => {
                Self { raw, text: raw.into(), newline, is_mixed, pairs: Vec::new() }
            }
            Eol::Crlf | Eol::Mixed => {
                let found = memchr::memmem::find_iter(raw.as_bytes(), "\r\n");
                let pairs = found.enumerate().map(|(before, at)| at - before).collect();
                Self { raw, text: raw.replace("\r\n", "\n").into(), newline, is_mixed, pairs }
            }
        }
    }

    /// The offset in the original of an offset in the text. Before a `\n`, it is before `\r\n`.
    pub(in crate::files) fn raw_offset(&self, at: usize) -> usize {
        at + self.pairs.partition_point(|pair| *pair < at)
    }

    /// The number of the line, counted from 1, that contains an offset in the text.
    pub(in crate::files) fn line_of(&self, at: usize) -> usize {
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..at]).count()
    }

    /// The ending of the line at an offset in the text, for a new line next to it.
    pub(in crate::files) fn newline_at(&self, at: usize) -> &'static str {
        if !self.is_mixed {
            return self.newline;
        }
        let bytes = self.text.as_bytes();
        let end = memchr::memchr(b'\n', &bytes[at..]).map(|end| at + end);
        let end = end.or_else(|| memchr::memrchr(b'\n', &bytes[..at]));
        let is_pair = end.is_some_and(|end| self.pairs.binary_search(&end).is_ok());
        if is_pair { "\r\n" } else { "\n" }
    }

    /// New lines of a model with the endings of the line that contains an offset in the text.
    pub(in crate::files) fn with_newlines(&self, text: &str, at: usize) -> String {
        match self.newline_at(at) {
            "\n" => text.to_owned(),
            newline => text.replace('\n', newline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_to_the_original() {
        let view = LfView::from_raw("a\r\nb\nc\r\n");
        assert_eq!(view.text, "a\nb\nc\n");
        assert_eq!(
            [0, 1, 2, 3, 4, 6].map(|at| view.newline_at(at)),
            ["\r\n", "\r\n", "\n", "\n", "\r\n", "\r\n"]
        );
        let raw: Vec<usize> = (0..=6).map(|at| view.raw_offset(at)).collect();
        assert_eq!(raw, [0, 1, 3, 4, 5, 6, 8]);
        assert_eq!([view.line_of(0), view.line_of(2), view.line_of(5)], [1, 2, 3]);
    }

    #[test]
    fn line_endings_are_told_apart() {
        let kinds = ["a", "a\nb", "a\r\nb\r\n", "a\rb", "a\r\nb\n"].map(Eol::from_text);
        assert_eq!(kinds, [Eol::None, Eol::Lf, Eol::Crlf, Eol::Cr, Eol::Mixed]);
        assert_eq!(LfView::from_raw("a\rb").with_newlines("x\ny", 0), "x\ry");
    }
}
