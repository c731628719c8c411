//! The lines of a string, and what of them is compared.

use super::MatchRule;
use std::borrow::Cow;
use tool_runtime::__seam::look_alike;

/// The lines of a string. A line takes four bytes: files of many short lines would take several times their size.
pub(in crate::files) struct LineIndex<'t> {
    text: &'t str,
    /// Where each line ends, before its `\n`.
    ends: Vec<u32>,
}

impl<'t> LineIndex<'t> {
    /// The text has less than 4 GiB, as every file that is changed.
    pub(in crate::files) fn from_text(text: &'t str) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes());
        let has_more = !text.is_empty() && !text.ends_with('\n');
        let ends = feeds.chain(has_more.then_some(text.len()));
        Self { text, ends: ends.map(|end| end as u32).collect() }
    }

    pub(in crate::files) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(in crate::files) fn line(&self, index: usize) -> &'t str {
        &self.text[self.start(index)..self.end(index)]
    }

    pub(in crate::files) fn lines(&self) -> impl Iterator<Item = &'t str> {
        (0..self.len()).map(|index| self.line(index))
    }

    /// The offset where a line starts; the end of the text for the line after the last.
    pub(in crate::files) fn start(&self, index: usize) -> usize {
        let before = index.checked_sub(1).map(|before| self.ends.get(before));
        let after = |end: &u32| *end as usize + 1;
        before.map_or(0, |before| before.map_or(self.text.len(), after).min(self.text.len()))
    }

    /// The offset before the `\n` of a line.
    pub(in crate::files) fn end(&self, index: usize) -> usize {
        self.ends[index] as usize
    }
}

/// The part of a line that a step compares.
pub(super) fn comparable(line: &str, step: MatchRule) -> Cow<'_, str> {
    match step {
        MatchRule::Exact => Cow::Borrowed(line),
        MatchRule::TrailingWhitespace => Cow::Borrowed(line.trim_end()),
        MatchRule::ShiftedIndentation => Cow::Borrowed(line.trim()),
        MatchRule::TypographicCharacters => match look_alike(line) {
            Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
            Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[test]
    fn lines_have_starts_and_ends() {
        for (text, lines, starts) in [
            ("", &[][..], &[0][..]),
            ("\n", &[""], &[0, 1]),
            ("a\n\nbc\n", &["a", "", "bc"], &[0, 2, 3, 6]),
            ("a\nbc", &["a", "bc"], &[0, 2, 4]),
        ] {
            let index = LineIndex::from_text(text);
            assert_eq!(index.lines().collect::<Vec<_>>(), lines);
            assert_eq!((0..=index.len()).map(|line| index.start(line)).collect::<Vec<_>>(), starts);
        }
    }
}
