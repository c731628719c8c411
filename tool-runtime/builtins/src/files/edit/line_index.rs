//! Lines of a text as numbers, so that comparing two costs nothing.

use super::Step;
use super::fold::fold;
use crate::stop::Stop;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The lines of a text.
pub(in crate::files) struct LineIndex<'t> {
    text: &'t str,
    /// Without their `\n`.
    ranges: Vec<Range<usize>>,
}

impl<'t> LineIndex<'t> {
    pub(in crate::files) fn of(text: &'t str) -> Self {
        let mut ranges = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            ranges.push(start..end);
            start = end + 1;
        }
        if start < text.len() {
            ranges.push(start..text.len());
        }
        Self { text, ranges }
    }

    pub(in crate::files) fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(in crate::files) fn line(&self, index: usize) -> &'t str {
        &self.text[self.ranges[index].clone()]
    }

    pub(in crate::files) fn lines(&self) -> impl Iterator<Item = &'t str> {
        self.ranges.iter().map(|range| &self.text[range.clone()])
    }

    /// The offset where a line starts; the end of the text for the line after the last.
    pub(in crate::files) fn start(&self, index: usize) -> usize {
        self.ranges.get(index).map_or(self.text.len(), |range| range.start)
    }

    /// The offset before the `\n` of a line.
    pub(in crate::files) fn end(&self, index: usize) -> usize {
        self.ranges[index].end
    }
}

/// A number for each line: equal if a step takes the lines for equal.
pub(super) fn line_numbers(
    old: &[&str],
    index: &LineIndex<'_>,
    step: Step,
    stop: &Stop<'_>,
) -> [Vec<u32>; 2] {
    let mut known: HashMap<Cow<'_, str>, u32> = HashMap::new();
    let old = old.iter().map(|line| {
        let next = known.len() as u32;
        *known.entry(comparable(line, step)).or_insert(next)
    });
    let old = old.collect();
    // Lines that are not quoted need no number of their own.
    let number = |line| known.get(&comparable(line, step)).copied().unwrap_or(u32::MAX);
    [old, stop.items(index.lines()).map(number).collect()]
}

/// The part of a line that a step compares.
fn comparable(line: &str, step: Step) -> Cow<'_, str> {
    match step {
        Step::Exact => Cow::Borrowed(line),
        Step::TrailingWhitespace => Cow::Borrowed(line.trim_end()),
        Step::ShiftedIndentation => Cow::Borrowed(line.trim()),
        Step::TypographicCharacters => match fold(line) {
            Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
            Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
        },
    }
}
