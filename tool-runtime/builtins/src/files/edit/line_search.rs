//! Finds lines without a look at all others: a patch may have thousands of hunks.

use super::MatchRule;
use super::line_index::{LineIndex, comparable};
use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Lines of one hash that are compared. More of them are searched for in the whole text.
const MAX_CANDIDATES: usize = 256;

/// The lines of a string, sorted by the hash of what a rule compares: eight bytes a line and rule.
pub(in crate::files) struct LineSearch<'t> {
    pub(in crate::files) index: LineIndex<'t>,
    sorted: [OnceCell<Vec<(u32, u32)>>; MatchRule::ALL.len()],
}

impl<'t> LineSearch<'t> {
    pub(in crate::files) fn from_text(text: &'t str) -> Self {
        Self { index: LineIndex::from_text(text), sorted: Default::default() }
    }

    /// The numbers of the lines that are equal by a rule, in order. `None`: there may be too many.
    pub(in crate::files) fn equal_lines(
        &self,
        line: &str,
        rule: MatchRule,
    ) -> Option<impl Iterator<Item = usize>> {
        let wanted = comparable(line, rule).into_owned();
        let candidates = self.candidates(&wanted, rule);
        let is_equal =
            move |number: &usize| comparable(self.index.line(*number), rule) == wanted.as_str();
        let numbers = candidates.iter().map(|(_, number)| *number as usize).filter(is_equal);
        (candidates.len() <= MAX_CANDIDATES).then_some(numbers)
    }

    /// The numbers of the lines where quoted lines begin, in order, found by the rarest of these lines. `None`: it is
    /// too frequent.
    pub(super) fn occurrences(&self, quoted: &[&str], rule: MatchRule) -> Option<Vec<usize>> {
        let comparables: Vec<_> = quoted.iter().map(|line| comparable(line, rule)).collect();
        let frequency = |number: &usize| self.candidates(&comparables[*number], rule).len();
        let rarest = (0..quoted.len()).min_by_key(frequency)?;
        let is_match = |first: &usize| {
            let fits = first + quoted.len() <= self.index.len();
            let is_equal = |number: usize| {
                comparable(self.index.line(first + number), rule) == comparables[number]
            };
            fits && (0..quoted.len()).all(is_equal)
        };
        let lines = self.equal_lines(quoted[rarest], rule)?;
        Some(lines.filter_map(|line| line.checked_sub(rarest)).filter(is_match).collect())
    }

    /// The lines with the hash of a line: those that are equal, and perhaps others.
    fn candidates(&self, wanted: &str, rule: MatchRule) -> &[(u32, u32)] {
        let sorted = self.sorted[rule as usize].get_or_init(|| {
            let lines = self.index.lines().enumerate();
            let hashed = lines.map(|(number, line)| (hash(&comparable(line, rule)), number as u32));
            let mut sorted: Vec<_> = hashed.collect();
            sorted.sort_unstable();
            sorted
        });
        let wanted = hash(wanted);
        let start = sorted.partition_point(|(hash, _)| *hash < wanted);
        let end = sorted.partition_point(|(hash, _)| *hash <= wanted);
        &sorted[start..end]
    }
}

fn hash(line: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish() as u32
}
