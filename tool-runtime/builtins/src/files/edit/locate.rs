//! The places of a quoted text, by the first step that finds any.

use super::Step;
use super::fold::{fold, offsets};
use super::line_index::{LineIndex, line_numbers};
use super::shift::Shift;
use crate::stop::Stop;

/// Places that are looked for. More are not replaced.
pub(in crate::files) const MAX_PLACES: usize = 100_000;

/// The places of a text.
#[derive(Debug)]
pub(in crate::files) struct Located {
    pub(in crate::files) step: Step,
    /// In order, at least one.
    pub(in crate::files) matches: Vec<Match>,
}

/// A place: offsets in the text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::files) struct Match {
    pub(in crate::files) start: usize,
    pub(in crate::files) end: usize,
    /// From the indentation of the quoted lines to that of the file.
    pub(in crate::files) shift: Shift,
}

/// Finds a quoted text, which may begin and end inside of lines. `old` is not empty.
pub(in crate::files) fn locate(text: &str, old: &str, stop: &Stop<'_>) -> Option<Located> {
    let exact = substrings(text, old);
    if !exact.is_empty() {
        return Some(Located { step: Step::Exact, matches: exact });
    }
    let index = LineIndex::of(text);
    // Whole lines that are equal are found above, except for the `\n` that the last line lacks.
    Step::ALL.into_iter().find_map(|step| {
        let mut matches = Vec::new();
        if step == Step::TypographicCharacters {
            matches = folded_substrings(&index, old, stop);
        }
        if matches.is_empty() {
            matches = whole_lines(&index, old, step, stop);
        }
        let step = if step == Step::Exact { Step::TrailingWhitespace } else { step };
        (!matches.is_empty()).then_some(Located { step, matches })
    })
}

/// Finds quoted lines.
pub(in crate::files) fn locate_lines(
    index: &LineIndex<'_>,
    old: &str,
    stop: &Stop<'_>,
) -> Option<Located> {
    Step::ALL.into_iter().find_map(|step| {
        let matches = whole_lines(index, old, step, stop);
        (!matches.is_empty()).then_some(Located { step, matches })
    })
}

/// Places that do not overlap, from the beginning. If that is one, a place that overlaps it counts, too: both are meant
/// equally.
fn substrings(text: &str, old: &str) -> Vec<Match> {
    let finder = memchr::memmem::Finder::new(old);
    let place = |start| Match { start, end: start + old.len(), shift: Shift::default() };
    let starts = finder.find_iter(text.as_bytes()).take(MAX_PLACES);
    let mut matches: Vec<Match> = starts.map(place).collect();
    if let [only] = &matches[..] {
        let from = only.start + text[only.start..].chars().next().map_or(1, char::len_utf8);
        let overlapping = finder.find(&text.as_bytes()[from..]);
        matches.extend(overlapping.map(|found| place(from + found)));
    }
    matches
}

/// Places of a part of a line that has typographic characters, or is quoted with them.
fn folded_substrings(index: &LineIndex<'_>, old: &str, stop: &Stop<'_>) -> Vec<Match> {
    let quoted = fold(old);
    if old.contains('\n') || quoted.trim().is_empty() {
        return Vec::new();
    }
    let in_line = |number: usize| {
        let line = index.line(number);
        let places = substrings(&fold(line), &quoted);
        // The offsets of a line take several times its memory.
        let offsets = if places.is_empty() { Vec::new() } else { offsets(line) };
        let offset = move |at: usize| offsets.get(at).copied().unwrap_or(line.len());
        // Not in the middle of what one character became.
        let is_boundary = |at: usize| at == 0 || offset(at) != offset(at - 1);
        let places = places.into_iter();
        let whole = places.filter(|m| is_boundary(m.start) && is_boundary(m.end));
        let start = index.start(number);
        let placed = whole.map(|m| Match {
            start: start + offset(m.start),
            end: start + offset(m.end),
            ..m
        });
        placed.collect::<Vec<_>>()
    };
    stop.items(0..index.len()).flat_map(in_line).take(MAX_PLACES).collect()
}

fn whole_lines(index: &LineIndex<'_>, old: &str, step: Step, stop: &Stop<'_>) -> Vec<Match> {
    let has_end = old.ends_with('\n');
    let quoted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let is_blank = quoted.iter().all(|line| line.trim().is_empty());
    if is_blank && step != Step::Exact {
        return Vec::new();
    }
    let [wanted, lines] = line_numbers(&quoted, index, step, stop);
    let at = |first: usize| {
        let last = first + quoted.len() - 1;
        let shift = if step >= Step::ShiftedIndentation {
            let found: Vec<&str> = (first..=last).map(|line| index.line(line)).collect();
            Shift::between(&quoted, &found)?
        } else {
            Shift::default()
        };
        let end = if has_end { index.start(last + 1) } else { index.end(last) };
        Some(Match { start: index.start(first), end, shift })
    };
    let equal = occurrences(&lines, &wanted, stop).take(MAX_PLACES);
    equal.take_while(|_| !stop.is_due()).filter_map(at).collect()
}

/// Where a pattern begins in a text, overlapping places included, in linear time (Knuth, Morris, Pratt).
fn occurrences<T: PartialEq>(
    text: &[T],
    pattern: &[T],
    stop: &Stop<'_>,
) -> impl Iterator<Item = usize> {
    let borders = borders(pattern, stop);
    let mut equal = 0;
    stop.items(text.iter().enumerate()).filter_map(move |(at, number)| {
        while equal > 0 && pattern.get(equal) != Some(number) {
            equal = borders.get(equal - 1).copied().unwrap_or_default();
        }
        equal += usize::from(pattern.get(equal) == Some(number));
        (equal == pattern.len()).then(|| at + 1 - equal)
    })
}

/// For each beginning of a pattern, the length of its longest proper prefix that is also its end.
fn borders<T: PartialEq>(pattern: &[T], stop: &Stop<'_>) -> Vec<usize> {
    let mut borders = vec![0];
    let mut equal = 0;
    for number in stop.items(pattern.iter().skip(1)) {
        while equal > 0 && pattern[equal] != *number {
            equal = borders[equal - 1];
        }
        equal += usize::from(pattern[equal] == *number);
        borders.push(equal);
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;
    use tool_runtime::ToolContext;

    /// A line that counts how often it is compared.
    struct Counted<'c>(u32, &'c AtomicUsize);

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0 == other.0
        }
    }

    /// Comparing each place with the whole pattern would take a hundred million comparisons.
    #[test]
    fn lines_are_compared_a_few_times_each() {
        let context = ToolContext::default();
        let stop = Stop::after(Duration::from_secs(3600), &context);
        let count = AtomicUsize::new(0);
        let equal = |length| (0..length).map(|_| Counted(1, &count)).collect::<Vec<_>>();
        let mut nearly_equal = equal(6_000);
        nearly_equal.push(Counted(2, &count));
        let text = equal(20_000);
        for (pattern, places) in [(equal(6_000), 14_001), (nearly_equal, 0)] {
            count.store(0, Ordering::Relaxed);
            assert_eq!(occurrences(&text, &pattern, &stop).count(), places);
            let count = count.load(Ordering::Relaxed);
            assert!(count <= 4 * (text.len() + pattern.len()), "{count}");
        }
    }
}
