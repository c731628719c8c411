//! Cuts the middle out of a string.

use super::notice::{Notice, Start};
use super::spill::Spill;

/// A shortened text: its first `head` bytes, a notice, and the bytes from `tail` on.
pub(super) struct Cut {
    pub(super) head: usize,
    pub(super) tail: usize,
    pub(super) notice: String,
}

impl Cut {
    /// `None` for a string that need not be cut, or is as short as a notice: cutting it would make it
    /// longer, and a notice would be cut again.
    pub(super) fn new(whole: &str, limit: usize, spill: &Spill<'_>) -> Option<Self> {
        if !exceeds(whole, limit) {
            return None;
        }
        let length = whole.chars().count();
        if length <= Notice::longest(limit, spill) {
            return None;
        }
        let file = spill.store(whole.as_bytes(), "txt");
        // Room for the longest notice, with a line break before and after it.
        let from = about(whole, whole.len(), whole.len()).from;
        let longest = Notice { file: file.as_deref(), limit, from, ..about(whole, 0, whole.len()) };
        let (head, tail) = ends(whole, limit.saturating_sub(longest.length() + 2));
        let notice = Notice { file: file.as_deref(), limit, ..about(whole, head, tail) };
        Some(Self { head, tail, notice: notice.to_string() })
    }

    /// Head, notice and tail as one text.
    pub(super) fn apply(&self, whole: &str) -> String {
        join_parts(&whole[..self.head], &self.notice, &whole[self.tail..])
    }
}

/// Head, notice and tail on separate lines, without empty ones.
pub(super) fn join_parts(head: &str, notice: &str, tail: &str) -> String {
    let parts = [head, notice, tail];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether a string has more characters than that. Most are short enough even in bytes.
pub(super) fn exceeds(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().count() > limit
}

/// A notice about the text between two positions, without a file.
fn about(whole: &str, head: usize, tail: usize) -> Notice<'static> {
    let cut = &whole[head..tail];
    let first = 1 + breaks(&whole[..head]) + usize::from(cut.starts_with('\n') && head > 0);
    let from = match whole.contains('\n') {
        // The cut begins at the line break of the last line shown.
        true => Start::Line(first),
        false => Start::Character(whole[..head].chars().count() + 1),
    };
    let within = cut.strip_prefix('\n').unwrap_or(cut);
    let lines = 1 + breaks(within.strip_suffix('\n').unwrap_or(within));
    Notice { characters: cut.chars().count(), lines, limit: 0, file: None, from }
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The end of the head and the start of the tail, with `room` characters in total.
fn ends(whole: &str, room: usize) -> (usize, usize) {
    let tail = room / 2;
    (head_end(whole, room - tail), tail_start(whole, tail))
}

/// A line break in the last quarter of the kept text is near.
const NEAR: usize = 4;

fn head_end(whole: &str, characters: usize) -> usize {
    let end = whole.char_indices().nth(characters).map_or(whole.len(), |(at, _)| at);
    if whole[end..].starts_with('\n') {
        return end;
    }
    match whole[..end].rfind('\n') {
        Some(at) if end - at <= end / NEAR => at,
        _ => end,
    }
}

fn tail_start(whole: &str, characters: usize) -> usize {
    let Some(last) = characters.checked_sub(1) else {
        return whole.len();
    };
    let start = whole.char_indices().rev().nth(last).map_or(0, |(at, _)| at);
    if whole[..start].ends_with('\n') {
        return start;
    }
    match whole[start..].find('\n') {
        Some(at) if at < (whole.len() - start) / NEAR => start + at + 1,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        (1..=count).map(|line| format!("line {line}\n")).collect()
    }

    fn cut(whole: &str, limit: usize) -> String {
        Cut::new(whole, limit, &Spill::new(None, "t")).expect("a cut").apply(whole)
    }

    #[test]
    fn text_is_truncated_at_line_ends() {
        let output = cut(&lines(100), 200);
        let lines: Vec<&str> = output.lines().collect();
        let middle = lines.iter().position(|line| line.starts_with("[cut")).expect("a notice");
        assert_eq!(lines[middle - 1], "line 8");
        assert_eq!(lines[middle + 1], "line 94");
        assert_eq!(
            lines[middle],
            "[cut here: 680 characters (85 lines); at most 200 are passed on, ask for less]"
        );
        assert!(output.ends_with("line 100\n"));
    }

    #[test]
    fn a_single_line_is_truncated_between_characters() {
        let whole = "ä".repeat(300);
        let output = cut(&whole, 200);
        assert!(output.starts_with("ää") && output.ends_with("ää"));
        assert!(output.chars().count() <= 200);
    }

    #[test]
    fn text_at_its_limit_is_unchanged() {
        let spill = Spill::new(None, "t");
        assert!(Cut::new(&"ä".repeat(300), 300, &spill).is_none());
        assert!(Cut::new(&"ä".repeat(301), 300, &spill).is_some());
    }

    #[test]
    fn a_small_limit_leaves_only_the_notice() {
        assert_eq!(
            cut(&lines(100), 10),
            "[cut here: 792 characters (100 lines); at most 10 are passed on, ask for less]"
        );
    }

    #[test]
    fn text_shorter_than_a_notice_is_unchanged() {
        assert!(Cut::new("a short text", 3, &Spill::new(None, "t")).is_none());
    }
}
