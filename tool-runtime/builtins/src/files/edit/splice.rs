//! The bytes of a replacement: lines that a model leaves as they are keep those of the file.

use super::{EditError, Match};
use crate::files::text::LfView;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

/// New text for a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::files) struct Splice {
    /// Offsets in the original.
    pub(in crate::files) range: Range<usize>,
    pub(in crate::files) text: String,
}

/// The text with all splices, which are in order and apart.
pub(in crate::files) fn spliced(raw: &str, splices: &[Splice]) -> String {
    let mut result = String::with_capacity(raw.len());
    let mut done = 0;
    for splice in splices {
        result.push_str(&raw[done..splice.range.start]);
        result.push_str(&splice.text);
        done = splice.range.end;
    }
    result + &raw[done..]
}

/// The replacement of a match. The quoted text has as many lines as the match.
///
/// # Errors
/// The time is up.
pub(in crate::files) fn replacement(
    view: &LfView<'_>,
    found: &Match,
    old: &str,
    new: &str,
    deadline: Instant,
) -> Result<Splice, EditError> {
    let range = view.raw_offset(found.start)..view.raw_offset(found.end);
    let matched = &view.text[found.start..found.end];
    let mut quoted: Vec<&str> = old.split('\n').collect();
    let mut wanted: Vec<&str> = new.split('\n').collect();
    let file: Vec<Range<usize>> = segments(matched, found.start).collect();
    // The last line of the file lacks its end, and stays so.
    if file.len() < quoted.len() {
        quoted.pop();
        if wanted.len() > 1 && wanted.last() == Some(&"") {
            wanted.pop();
        }
    }
    let mut lines = Lines { view, file: &file, text: String::new(), ending: None };
    let last = wanted.len() - 1;
    for (number, line) in pairs(&quoted, &wanted, deadline)?.into_iter().enumerate() {
        match line {
            Line::Kept(index) => lines.keep(index),
            Line::New { index, neighbour } => {
                lines.add(&found.shift.apply(wanted[index], index == 0), neighbour);
            }
        }
        if number < last {
            lines.end();
        }
    }
    Ok(Splice { range, text: lines.text })
}

/// The lines of a match, as offsets in the text.
fn segments(matched: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    matched.split('\n').scan(start, |at, line| {
        let range = *at..*at + line.len();
        *at = range.end + 1;
        Some(range)
    })
}

/// A line of the new text.
enum Line {
    /// A line of the quoted text, by its number there. It may have moved.
    Kept(usize),
    /// By its number in the new text, and that of the line that it replaces or follows.
    New { index: usize, neighbour: usize },
}

/// # Errors
/// The time is up: lines that stay may count as new.
fn pairs(quoted: &[&str], wanted: &[&str], deadline: Instant) -> Result<Vec<Line>, EditError> {
    let mut lines = Vec::with_capacity(wanted.len());
    let with_text = quoted.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let moved: HashMap<&str, usize> = with_text.map(|(number, line)| (*line, number)).collect();
    let new = |index: usize, neighbour| match moved.get(wanted[index]) {
        Some(number) => Line::Kept(*number),
        None => Line::New { index, neighbour },
    };
    let ops = capture_diff_slices_deadline(Algorithm::Myers, quoted, wanted, Some(deadline));
    if Instant::now() >= deadline {
        return Err(EditError::Expired);
    }
    for op in ops {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                lines.extend((old_index..old_index + len).map(Line::Kept));
            }
            DiffOp::Insert { old_index, new_index, new_len } => {
                let neighbour = old_index.saturating_sub(1);
                lines.extend((new_index..new_index + new_len).map(|index| new(index, neighbour)));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let neighbour = |number: usize| old_index + number.min(old_len - 1);
                lines.extend((0..new_len).map(|number| new(new_index + number, neighbour(number))));
            }
            DiffOp::Delete { .. } => {}
        }
    }
    Ok(lines)
}

/// Writes the lines of a replacement.
struct Lines<'a> {
    view: &'a LfView<'a>,
    file: &'a [Range<usize>],
    text: String,
    /// The ending of the line before.
    ending: Option<&'a str>,
}

impl Lines<'_> {
    fn keep(&mut self, index: usize) {
        let raw = |at| self.view.raw_offset(at);
        let line = &self.file[index];
        self.text.push_str(&self.view.raw[raw(line.start)..raw(line.end)]);
        let next = self.file.get(index + 1);
        self.ending = next.map(|next| &self.view.raw[raw(line.end)..raw(next.start)]);
    }

    fn add(&mut self, line: &str, neighbour: usize) {
        self.text.push_str(line);
        self.ending = self.file.get(neighbour).map(|neighbour| self.view.newline_at(neighbour.end));
    }

    fn end(&mut self) {
        let last = || self.file.last().map_or(0, |line| line.end);
        let ending = self.ending.take();
        self.text.push_str(ending.unwrap_or_else(|| self.view.newline_at(last())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_time::ends;

    /// Comparing all of them takes hours.
    #[test]
    fn lines_that_are_all_different_are_compared_until_the_deadline() {
        let count = 100_000;
        let error = ends(move || {
            let lines = |from: usize| (from..from + count).map(|line| line.to_string());
            let [quoted, wanted] = [0, count].map(|from| lines(from).collect::<Vec<_>>());
            let [quoted, wanted] = [&quoted, &wanted]
                .map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
            pairs(&quoted, &wanted, Instant::now()).err()
        });
        assert_eq!(error, Some(EditError::Expired));
    }
}
