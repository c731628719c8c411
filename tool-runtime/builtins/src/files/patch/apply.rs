//! Hunks on the text of a file.

use super::{Anchor, Applied, Hunk};
use crate::files::edit::{
    self, EditError, LineSearch, Located, Match, MatchRule, Splice, locate_lines, nearest,
    replacement, spliced,
};
use crate::files::text::LfView;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

/// The number of a hunk, counted from 0, and the reason why it has no match.
pub(super) type HunkError = (usize, EditError);

/// The text with all hunks. Each is searched in the original.
///
/// # Errors
/// A hunk has no match, or takes too long.
pub(super) fn hunks(
    content: &str,
    hunks: &[Hunk],
    deadline: Instant,
) -> Result<(String, Applied), HunkError> {
    let view = LfView::from_raw(content);
    let search = LineSearch::from_text(&view.text);
    let mut applied = Applied::default();
    let (mut splices, mut ranges) = (Vec::<Splice>::new(), BTreeSet::new());
    for (number, hunk) in hunks.iter().enumerate() {
        let splice = splice_of(&view, &search, hunk, &mut applied, deadline);
        let splice = splice.map_err(|error| (number, error))?;
        let Range { start, end } = splice.range;
        // The others do not overlap each other: the last one that begins before the end decides.
        let before: Option<&(usize, usize)> = ranges.range(..(end, 0)).next_back();
        if before.is_some_and(|(_, other)| start < *other) {
            return Err((number, EditError::Overlaps));
        }
        ranges.insert((start, end));
        splices.push(splice);
    }
    // Stable: insertions at one position keep their order.
    splices.sort_by_key(|splice| splice.range.start);
    Ok((spliced(content, &splices), applied))
}

fn splice_of(
    view: &LfView<'_>,
    search: &LineSearch<'_>,
    hunk: &Hunk,
    applied: &mut Applied,
    deadline: Instant,
) -> Result<Splice, EditError> {
    if Instant::now() >= deadline {
        return Err(EditError::Expired);
    }
    if hunk.old.is_empty() {
        return insertion(view, search, hunk);
    }
    if hunk.old == hunk.new {
        return Err(EditError::Identical);
    }
    let Some(located) = locate_lines(search, &hunk.old) else {
        return Err(not_found(view, search, hunk));
    };
    let found = only(view, search, hunk, &located)?;
    if edit::is_applied(&view.text, found, &hunk.old, &hunk.new) {
        return Err(EditError::AlreadyApplied { line: view.line_of(found.start) });
    }
    applied.replacements += 1;
    applied.step = applied.step.max(Some(located.step));
    replacement(view, found, &hunk.old, &with_end(hunk, &view.text[found.end..]), deadline)
}

/// The new lines. A hunk that adds or removes the last newline of a file is about its end: before other lines, it does
/// neither.
fn with_end<'h>(hunk: &'h Hunk, rest: &str) -> Cow<'h, str> {
    let (old_ends, new_ends) = (hunk.old.ends_with('\n'), hunk.new.ends_with('\n'));
    match &*hunk.new {
        new if !old_ends && new_ends && rest.starts_with('\n') => new[..new.len() - 1].into(),
        new if old_ends && !new_ends && !new.is_empty() && !rest.is_empty() => {
            format!("{new}\n").into()
        }
        new => new.into(),
    }
}

/// The match that is meant. The line number of a hunk selects none: models count badly, and a twin of the match may be
/// at a stale number.
///
/// # Errors
/// There are several matches, or all are before the line that the hunk names.
fn only<'m>(
    view: &LfView<'_>,
    search: &LineSearch<'_>,
    hunk: &Hunk,
    located: &'m Located,
) -> Result<&'m Match, EditError> {
    let line = |found: &Match| view.line_of(found.start);
    let scope = scope(search, &hunk.scopes);
    // The line itself may be the first one of the hunk.
    let is_after = |found: &&Match| scope.as_ref().is_none_or(|scope| scope.start <= found.end);
    let mut left: Vec<&Match> = located.matches.iter().filter(is_after).collect();
    if left.is_empty() {
        return Err(EditError::BeforeScope { line: located.matches.first().map_or(1, line) });
    }
    let ends = |found: &&Match| hunk.anchor != Anchor::End || found.end == view.text.len();
    let in_scope = |found: &&Match| scope.as_ref().is_none_or(|scope| scope.contains(&found.start));
    let filters: [&dyn Fn(&&Match) -> bool; 2] = [&ends, &in_scope];
    for filter in filters {
        let narrowed: Vec<&Match> = left.iter().copied().filter(filter).collect();
        if left.len() > 1 && !narrowed.is_empty() {
            left = narrowed;
        }
    }
    match &*left {
        [found] => Ok(found),
        _ => {
            let lines = left.into_iter().map(line).collect();
            Err(EditError::Ambiguous { step: located.step, lines })
        }
    }
}

/// The part of the text that the lines after `@@` name: from a line to the next with no more indentation. `None` if
/// there are no such lines, or one is not unique.
fn scope(search: &LineSearch<'_>, scopes: &[String]) -> Option<Range<usize>> {
    let index = &search.index;
    let mut range = 0..index.len();
    for scope in scopes {
        let header = match search.equal_lines(scope, MatchRule::ShiftedIndentation) {
            Some(lines) => only_one(lines.filter(|line| range.contains(line))),
            None => only_one(range.clone().filter(|line| index.line(*line).trim() == scope.trim())),
        }?;
        let indent = |line: usize| {
            let text = index.line(line);
            text.len() - text.trim_start().len()
        };
        let ends = |line: &usize| {
            let text = index.line(*line).trim();
            let closes = text.starts_with(['}', ')', ']']);
            !text.is_empty() && !closes && indent(*line) <= indent(header)
        };
        let end = (header + 1..range.end).find(ends).unwrap_or(range.end);
        range = header + 1..end;
    }
    (!scopes.is_empty()).then(|| index.start(range.start)..index.start(range.end).max(1))
}

fn only_one(mut lines: impl Iterator<Item = usize>) -> Option<usize> {
    lines.next().filter(|_| lines.next().is_none())
}

/// Lines without context: after the line that `@@` names, at the start or end if the hunk says so, or in an empty file.
fn insertion(view: &LfView<'_>, search: &LineSearch<'_>, hunk: &Hunk) -> Result<Splice, EditError> {
    let text = &view.text;
    let at = match scope(search, &hunk.scopes) {
        Some(scope) => scope.start,
        None if hunk.anchor == Anchor::Start => 0,
        None if hunk.anchor == Anchor::End || text.is_empty() => text.len(),
        None => return Err(EditError::Empty),
    };
    let applied = if text[at..].starts_with(&hunk.new) {
        Some(at)
    } else {
        text[..at].ends_with(&hunk.new).then(|| at - hunk.new.len())
    };
    if let Some(start) = applied.filter(|_| edit::is_telling(&hunk.new)) {
        return Err(EditError::AlreadyApplied { line: view.line_of(start) });
    }
    let raw = view.raw_offset(at);
    let needs_newline = at > 0 && !text[..at].ends_with('\n');
    let new = if needs_newline { format!("\n{}", hunk.new) } else { hunk.new.clone() };
    Ok(Splice { range: raw..raw, text: view.with_newlines(&new, at.saturating_sub(1)) })
}

fn not_found(view: &LfView<'_>, search: &LineSearch<'_>, hunk: &Hunk) -> EditError {
    let located = edit::is_telling(&hunk.new).then(|| locate_lines(search, &hunk.new)).flatten();
    match located.map(|located| located.matches).as_deref() {
        Some([found]) => EditError::AlreadyApplied { line: view.line_of(found.start) },
        _ => EditError::NotFound(nearest(&view.text, &hunk.old)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: &str, new: &str) -> Hunk {
        Hunk { old: old.into(), new: new.into(), ..Hunk::default() }
    }

    fn apply(content: &str, list: &[Hunk]) -> Result<String, HunkError> {
        hunks(content, list, edit::deadline()).map(|(content, _)| content)
    }

    #[test]
    fn hunks_are_applied_in_any_order() {
        let list = [hunk("c\n", "x\ny\n"), hunk("a\n", "")];
        assert_eq!(apply("a\r\nb\r\nc\r\n", &list).unwrap(), "b\r\nx\r\ny\r\n");
        assert_eq!(apply("ab\nb\n", &[hunk("b\n", "c\n")]).unwrap(), "ab\nc\n");
        assert_eq!(apply("a\nb", &[hunk("b\n", "c\n")]).unwrap(), "a\nc");
    }

    #[test]
    fn context_lines_keep_the_bytes_of_the_file() {
        let list = [hunk("if a {\n    b();\n}\n", "if a {\n    b();\n    c();\n}\n")];
        let content = "\tif a { \n\t\tb();\n\t}\n";
        assert_eq!(apply(content, &list).unwrap(), "\tif a { \n\t\tb();\n\t\tc();\n\t}\n");
    }

    #[test]
    fn several_matches_are_refused_unless_the_patch_names_one() {
        let content = "fn a() {\n    x();\n}\nfn b() {\n    x();\n}\n";
        let ambiguous = hunk("    x();\n", "    y();\n");
        assert_eq!(
            apply(content, std::slice::from_ref(&ambiguous)).unwrap_err(),
            (0, EditError::Ambiguous { step: MatchRule::Exact, lines: vec![2, 5] })
        );
        let expected = "fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n";
        let scoped = Hunk { scopes: vec!["fn b() {".into()], ..ambiguous };
        assert_eq!(apply(content, &[scoped]).unwrap(), expected);
    }

    #[test]
    fn a_match_before_the_line_that_a_hunk_names_is_not_meant() {
        let content = "fn a() {\n    x();\n}\nfn b() {\n    y();\n}\nz();\n";
        let scoped = |old: &str| Hunk { scopes: vec!["fn b() {".into()], ..hunk(old, "new();\n") };
        let error = apply(content, &[scoped("    x();\n")]).unwrap_err();
        assert_eq!(error, (0, EditError::BeforeScope { line: 2 }));
        assert!(apply(content, &[scoped("fn b() {\n")]).unwrap().contains("}\nnew();\n    y"));
        // Behind its last line may be meant: the end of a scope is guessed by indentation.
        assert!(apply(content, &[scoped("z();\n")]).unwrap().ends_with("}\nnew();\n"));
    }

    #[test]
    fn additions_without_context_need_a_position() {
        let content = "mod a {\n}\n";
        let add = hunk("", "    x();\n");
        let scoped = Hunk { scopes: vec!["mod a {".into()], ..add.clone() };
        assert_eq!(apply(content, &[scoped]).unwrap(), "mod a {\n    x();\n}\n");
        let last = Hunk { anchor: Anchor::End, ..add.clone() };
        assert_eq!(apply("a", &[last]).unwrap(), "a\n    x();\n");
        assert_eq!(apply(content, std::slice::from_ref(&add)).unwrap_err(), (0, EditError::Empty));
        let first = Hunk { anchor: Anchor::Start, ..add.clone() };
        assert_eq!(apply(content, &[first]).unwrap(), "    x();\nmod a {\n}\n");
        assert_eq!(apply("", &[add]).unwrap(), "    x();\n");
        // The same patch again.
        let last = Hunk { anchor: Anchor::End, ..hunk("", "fn appended() {}\n") };
        let error = apply("a\nfn appended() {}\n", &[last]).unwrap_err();
        assert_eq!(error, (0, EditError::AlreadyApplied { line: 2 }));
    }

    #[test]
    fn a_hunk_that_was_applied_is_recognised() {
        let content = "first\nsecond\nthird line\n";
        let error = apply(content, &[hunk("old line\n", "third line\n")]).unwrap_err();
        assert_eq!(error, (0, EditError::AlreadyApplied { line: 3 }));
        let error = apply(content, &[hunk("first\n", "first\nsecond\n")]).unwrap_err();
        assert_eq!(error, (0, EditError::AlreadyApplied { line: 1 }));
        let list = [hunk("first\nsecond\n", "x\n"), hunk("second\n", "y\n")];
        assert_eq!(apply(content, &list).unwrap_err(), (1, EditError::Overlaps));
    }
}
