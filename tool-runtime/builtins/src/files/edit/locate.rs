//! The matches of a quoted text, by the first step that finds any.

use super::MatchRule;
use super::fold::{fold, offsets};
use super::line_index::{LineIndex, comparable};
use super::line_search::LineSearch;
use super::shift::Shift;
use memchr::memmem;

/// Matches that are looked for. More are not replaced.
const MAX_MATCHES: usize = 100_000;

/// Bytes of quoted lines that are compared with the file: a long quotation may be in a file of equal lines a million times.
const MAX_COMPARED: usize = 8 * 1024 * 1024;

/// The matches of a string.
#[derive(Debug)]
pub(in crate::files) struct Located {
    pub(in crate::files) step: MatchRule,
    /// In order, at least one.
    pub(in crate::files) matches: Vec<Match>,
    /// Whether there may be more matches.
    pub(in crate::files) is_cut: bool,
}

/// A match: offsets in the text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::files) struct Match {
    pub(in crate::files) start: usize,
    pub(in crate::files) end: usize,
    /// From the indentation of the quoted lines to that of the file.
    pub(in crate::files) shift: Shift,
}

/// Finds a quoted text, which may begin and end inside lines. `old` is not empty.
pub(in crate::files) fn locate(text: &str, old: &str) -> Option<Located> {
    let exact = substrings(text, old);
    if let Some(located) = Located::new(MatchRule::Exact, exact) {
        return Some(located);
    }
    let index = LineIndex::from_text(text);
    // Whole lines that are equal are found above, except for the `\n` that the last line lacks.
    MatchRule::ALL.into_iter().find_map(|step| {
        let reported = if step == MatchRule::Exact { MatchRule::TrailingWhitespace } else { step };
        let folded =
            (step == MatchRule::TypographicCharacters).then(|| folded_substrings(&index, old));
        let folded = folded.and_then(|matches| Located::new(reported, matches));
        folded.or_else(|| Located::new(reported, whole_lines(&index, None, old, step)))
    })
}

/// Finds quoted lines.
pub(in crate::files) fn locate_lines(search: &LineSearch<'_>, old: &str) -> Option<Located> {
    let located = |step| Located::new(step, whole_lines(&search.index, Some(search), old, step));
    MatchRule::ALL.into_iter().find_map(located)
}

/// The matches by one rule.
#[derive(Default)]
struct FoundMatches {
    matches: Vec<Match>,
    /// Whether there may be more matches.
    is_cut: bool,
}

impl Located {
    fn new(step: MatchRule, found: FoundMatches) -> Option<Self> {
        let FoundMatches { matches, is_cut } = found;
        (!matches.is_empty()).then_some(Self { step, matches, is_cut })
    }
}

/// Matches that do not overlap, from the beginning. If that is one, a match that overlaps it counts, too: both are meant
/// equally.
fn substrings(text: &str, old: &str) -> FoundMatches {
    let finder = memmem::Finder::new(old);
    let to_match = |start| Match { start, end: start + old.len(), shift: Shift::default() };
    let starts = finder.find_iter(text.as_bytes()).take(MAX_MATCHES);
    let mut matches: Vec<Match> = starts.map(to_match).collect();
    if let [only] = &matches[..] {
        let from = only.start + text[only.start..].chars().next().map_or(1, char::len_utf8);
        let overlapping = finder.find(&text.as_bytes()[from..]);
        matches.extend(overlapping.map(|found| to_match(from + found)));
    }
    let is_cut = matches.len() >= MAX_MATCHES;
    FoundMatches { matches, is_cut }
}

/// Matches of a part of a line that has typographic characters, or is quoted with them.
fn folded_substrings(index: &LineIndex<'_>, old: &str) -> FoundMatches {
    let quoted = fold(old);
    if old.contains('\n') || quoted.trim().is_empty() {
        return FoundMatches::default();
    }
    let in_line = |number: usize| {
        let line = index.line(number);
        let FoundMatches { matches, .. } = substrings(&fold(line), &quoted);
        // The offsets of a line take several times its memory.
        let offsets = if matches.is_empty() { Vec::new() } else { offsets(line) };
        let offset = move |at: usize| offsets.get(at).copied().unwrap_or(line.len());
        // Not in the middle of what one character became.
        let is_boundary = |at: usize| at == 0 || offset(at) != offset(at - 1);
        let matches = matches.into_iter();
        let whole = matches.filter(|m| is_boundary(m.start) && is_boundary(m.end));
        let start = index.start(number);
        let in_text = whole.map(|m| Match {
            start: start + offset(m.start),
            end: start + offset(m.end),
            ..m
        });
        in_text.collect::<Vec<_>>()
    };
    let matches: Vec<Match> = (0..index.len()).flat_map(in_line).take(MAX_MATCHES).collect();
    let is_cut = matches.len() == MAX_MATCHES;
    FoundMatches { matches, is_cut }
}

fn whole_lines(
    index: &LineIndex<'_>,
    search: Option<&LineSearch<'_>>,
    old: &str,
    step: MatchRule,
) -> FoundMatches {
    let has_end = old.ends_with('\n');
    let quoted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let is_blank = quoted.iter().all(|line| line.trim().is_empty());
    if is_blank && step != MatchRule::Exact {
        return FoundMatches::default();
    }
    let at = |first: usize| {
        let last = first + quoted.len() - 1;
        let shift = if step >= MatchRule::ShiftedIndentation {
            let found: Vec<&str> = (first..=last).map(|line| index.line(line)).collect();
            Shift::between(&quoted, &found)?
        } else {
            Shift::default()
        };
        let end = if has_end { index.start(last + 1) } else { index.end(last) };
        Some(Match { start: index.start(first), end, shift })
    };
    if let Some(starts) = search.and_then(|search| search.occurrences(&quoted, step)) {
        return FoundMatches {
            matches: starts.into_iter().filter_map(at).collect(),
            is_cut: false,
        };
    }
    let (text, wanted) = (framed(index.lines(), step), framed(quoted.iter().copied(), step));
    let most = (MAX_COMPARED / wanted.len()).clamp(2, MAX_MATCHES);
    let starts: Vec<usize> = occurrences(&text, &wanted).take(most).collect();
    let is_cut = starts.len() == most;
    FoundMatches { matches: starts.into_iter().filter_map(at).collect(), is_cut }
}

/// The lines as a step compares them, each between two `\n`.
fn framed<'t>(lines: impl Iterator<Item = &'t str>, step: MatchRule) -> String {
    let mut text = "\n".to_owned();
    for line in lines {
        text.push_str(&comparable(line, step));
        text.push('\n');
    }
    text
}

/// The numbers of the lines where framed lines begin, overlapping matches included.
fn occurrences(text: &str, lines: &str) -> impl Iterator<Item = usize> {
    let finder = memmem::Finder::new(lines);
    let (mut from, mut line) = (0, 0);
    std::iter::from_fn(move || {
        let rest = &text.as_bytes()[from..];
        let found = finder.find(rest)?;
        let first = line + memchr::memchr_iter(b'\n', &rest[..found]).count();
        (from, line) = (from + found + 1, first + 1);
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn quoted_lines_are_found_with_and_without_hashes(
            lines in prop::collection::vec("[ab \u{2019}']{0,3}", 0..40),
            quoted in prop::collection::vec("[ab \u{2019}']{0,3}", 1..4),
            has_end: bool,
        ) {
            let (text, end) = (lines.join("\n"), if has_end { "\n" } else { "" });
            let old = format!("{}{end}", quoted.join("\n"));
            let search = LineSearch::from_text(&text);
            for step in MatchRule::ALL {
                let found = [Some(&search), None].map(|search| {
                    whole_lines(&LineIndex::from_text(&text), search, &old, step).matches
                });
                prop_assert_eq!(&found[0], &found[1]);
            }
        }
    }
}
