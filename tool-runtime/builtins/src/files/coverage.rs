//! The lines of a file that a caller has not read.

use super::read::lines_of;
use std::ops::Range;

/// The lines of a version that a caller has not read, counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unread(Vec<Range<usize>>);

/// The lines that differ between two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangedLines {
    start: usize,
    old_end: usize,
    new_end: usize,
}

impl Unread {
    /// All lines but those that were read, of `total`.
    pub(super) fn except(read: Range<usize>, total: usize) -> Self {
        let unread = [0..read.start.min(total), read.end..total.max(read.end)];
        Self(unread.into_iter().filter(|range| !range.is_empty()).collect())
    }

    /// Adds lines that were read in part.
    pub(super) fn with_lines(mut self, lines: &[usize]) -> Self {
        self.0.extend(lines.iter().map(|line| *line..*line + 1));
        self.0.sort_unstable_by_key(|range| range.start);
        self
    }

    /// The lines that are unread in both: parts add up.
    pub(super) fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().map(move |two| (one, two)));
        let common = pairs.map(|(one, two)| one.start.max(two.start)..one.end.min(two.end));
        Self(common.filter(|range| !range.is_empty()).collect())
    }

    /// The unread lines of the next version, which the caller wrote. If some of the lines that changed were unread, so
    /// are those that replaced them. Without the lines that changed, all are unread if one was.
    pub(super) fn after(&self, changed: Option<ChangedLines>) -> Self {
        let Some(ChangedLines { start, old_end, new_end }) = changed else {
            return Self(self.0.first().map(|_| 0..usize::MAX).into_iter().collect());
        };
        let parts = self.0.iter().flat_map(|range| {
            let before = range.start..range.end.min(start);
            let within = range.start.max(start) < range.end.min(old_end);
            let within = if within { start..new_end } else { 0..0 };
            let moved = |line: usize| (line - old_end).saturating_add(new_end);
            let after = moved(range.start.max(old_end))..moved(range.end.max(old_end));
            [before, within, after]
        });
        let mut parts: Vec<_> = parts.filter(|range| !range.is_empty()).collect();
        parts.dedup();
        Self(parts)
    }

    /// The first and the last line of the first part, counted from 1. No last one if it is the rest.
    pub(super) fn first(&self) -> Option<(usize, Option<usize>)> {
        let range = self.0.first()?;
        Some((range.start + 1, (range.end != usize::MAX).then_some(range.end)))
    }
}

impl ChangedLines {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (lines_of(old).collect(), lines_of(new).collect());
        let pairs = old.iter().zip(&new);
        let start = pairs.take_while(|(old, new)| old == new).count();
        let (rest_old, rest_new) = (&old[start..], &new[start..]);
        let pairs = rest_old.iter().rev().zip(rest_new.iter().rev());
        let equal = pairs.take_while(|(old, new)| old == new).count();
        Self { start, old_end: old.len() - equal, new_end: new.len() - equal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let all = Unread::except(0..4, 4);
        assert_eq!(all, Unread::default());
        let middle = Unread::except(10..20, 100);
        assert_eq!((middle.first(), &middle.0[1]), (Some((1, Some(10))), &(20..100)));
        let both = middle.and(&Unread::except(0..10, 100));
        assert_eq!(both.first(), Some((21, Some(100))));
        assert_eq!(both.and(&Unread::except(15..100, 100)), Unread::default());
    }

    #[test]
    fn unread_lines_move_with_a_change_and_stay_unread_if_they_are_replaced() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "a\nX\nY\nZ\nd\ne\n");
        let changed = Some(ChangedLines::between(old, new));
        assert_eq!(changed, Some(ChangedLines { start: 1, old_end: 3, new_end: 4 }));
        assert_eq!(Unread::except(0..3, 5).after(changed), Unread::except(0..4, 6));
        assert_eq!(Unread::except(0..2, 5).after(changed), Unread(vec![1..4, 4..6]));
        assert_eq!(Unread::except(3..5, 5).after(changed), Unread(vec![0..1, 1..4]));
        assert_eq!(Unread::default().after(changed), Unread::default());
        assert_eq!(Unread::default().after(None), Unread::default());
        assert_eq!(Unread::except(0..2, 5).after(None).first(), Some((1, None)));
    }
}
