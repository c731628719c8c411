//! Unified diffs for models.

use similar::udiff::{UnifiedDiffHunk, UnifiedHunkHeader};
use similar::{DiffOp, DiffTag, TextDiff};
use std::time::Duration;

/// Limit on the characters of a diff.
const MAX_CHARACTERS: usize = 16_000;

/// Time after which a diff becomes coarser.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Lines around a change.
pub(super) const CONTEXT: usize = 3;

/// The changes of a file, cut with a notice. Empty if there are none.
pub(crate) fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let names = format!("--- {}\n+++ {}\n", name("a", before), name("b", after));
    let (skipped, [old, new]) = changed_part(before.unwrap_or(""), after.unwrap_or(""));
    let mut config = TextDiff::configure();
    let diff = config.timeout(TIMEOUT).diff_lines(old, new);
    let hunk = |hunk: UnifiedDiffHunk<'_, '_, '_, str>| {
        let ops: Vec<DiffOp> = hunk.ops().iter().map(|op| shifted(*op, skipped)).collect();
        let text = hunk.to_string();
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        format!("{}\n{body}", UnifiedHunkHeader::new(&ops))
    };
    let hunks: String =
        diff.unified_diff().context_radius(CONTEXT).iter_hunks().map(hunk).collect();
    if hunks.is_empty() { hunks } else { cut(names + &hunks) }
}

/// The part of both versions that differs, with lines of context, and the number of equal lines before it. Comparing the
/// lines of whole files takes several times their memory.
pub(super) fn changed_part<'t>(old: &'t str, new: &'t str) -> (usize, [&'t str; 2]) {
    let equal = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let lines = old.as_bytes()[..equal].iter().enumerate().rev();
    let mut ends = lines.filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end);
    let start = ends.nth(CONTEXT).map_or(0, |end| end + 1);
    let [old_rest, new_rest] = [&old[start..], &new[start..]];
    let equal_end = old_rest
        .bytes()
        .rev()
        .zip(new_rest.bytes().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let tail = &old.as_bytes()[old.len() - equal_end..];
    // The first of these lines may be equal in a part only.
    let end = memchr::memchr_iter(b'\n', tail).nth(CONTEXT).map_or(0, |end| tail.len() - end - 1);
    let part = |text: &'t str| &text[start..text.len() - end];
    (count_lines(&old[..start]), [part(old), part(new)])
}

/// The lines of a string, as the diff counts them.
fn count_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let returns = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n'));
    memchr::memchr_iter(b'\n', bytes).count() + returns.count()
}

/// The operation, so many lines below.
fn shifted(op: DiffOp, lines: usize) -> DiffOp {
    let (tag, old, new) = op.as_tag_tuple();
    let (old_index, new_index) = (old.start + lines, new.start + lines);
    let (old_len, new_len) = (old.len(), new.len());
    match tag {
        DiffTag::Equal => DiffOp::Equal { old_index, new_index, len: old_len },
        DiffTag::Delete => DiffOp::Delete { old_index, old_len, new_index },
        DiffTag::Insert => DiffOp::Insert { old_index, new_index, new_len },
        DiffTag::Replace => DiffOp::Replace { old_index, old_len, new_index, new_len },
    }
}

fn cut(diff: String) -> String {
    let Some((end, _)) = diff.char_indices().nth(MAX_CHARACTERS) else { return diff };
    let end = diff[..end].rfind('\n').map_or(end, |at| at + 1);
    let rest = diff[end..].lines().count();
    format!("{}[{rest} more lines of the diff are not shown; read the file]\n", &diff[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(old: &str, new: &str) -> String {
        TextDiff::from_lines(old, new)
            .unified_diff()
            .context_radius(3)
            .header("a/x", "b/x")
            .to_string()
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("10\n", "ten\n");
        assert_eq!(unified("x", Some(&old), Some(&new)), whole(&old, &new));
        assert_eq!(
            changed_part(&old, &new),
            (6, ["7\n8\n9\n10\n11\n12\n13\n", "7\n8\n9\nten\n11\n12\n13\n"])
        );
        assert_eq!(unified("x", Some("a"), Some("a")), "");
        assert_eq!(unified("x", None, Some("a\n")), "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Both parts give the content again, at the stated line.
        #[test]
        fn equal_lines_are_left_out_on_both_sides(old in "([aä]?(\n|\r\n|b)){0,12}", new in "([aä]?(\n|\r\n|b)){0,12}") {
            let (skipped, [old_part, new_part]) = changed_part(&old, &new);
            let start = old.split_inclusive('\n').take(skipped).map(str::len).sum::<usize>();
            let end = old.len() - start - old_part.len();
            prop_assert_eq!(format!("{}{new_part}{}", &old[..start], &old[old.len() - end..]), new);
        }
    }
}
