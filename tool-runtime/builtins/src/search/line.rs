//! One line of a file, as models read it.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use schemars::JsonSchema;
use serde::Serialize;

/// Characters of a line that are shown.
const MAX_LINE: usize = 500;
/// Characters before the match in a line that is cut.
const LEAD: usize = 100;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Line {
    /// Counted from 1.
    pub number: u64,
    /// The text, cut around the match if it is long.
    pub text: String,
    /// Whether the line matches; otherwise it is context.
    pub is_match: bool,
}

impl Line {
    pub(super) fn new(number: u64, bytes: &[u8], is_match: bool, matcher: &RegexMatcher) -> Self {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = if bytes.len() <= MAX_LINE {
            String::from_utf8_lossy(bytes).into_owned()
        } else {
            let found = matcher.find(bytes).ok().flatten().filter(|_| is_match);
            cut(bytes, found.map_or(0, |found| found.start()))
        };
        Self { number, text, is_match }
    }
}

/// The part of a long line around a byte.
fn cut(bytes: &[u8], at: usize) -> String {
    let (before, after) = bytes.split_at(at.min(bytes.len()));
    // Four bytes are the most of a character, so the slices hold enough of them.
    let before = String::from_utf8_lossy(&before[before.len().saturating_sub(4 * LEAD)..]);
    let after = String::from_utf8_lossy(&after[..after.len().min(4 * MAX_LINE)]);
    let lead_length = before.chars().count();
    let lead: String = before.chars().skip(lead_length.saturating_sub(LEAD)).collect();
    let rest: String = after.chars().take(MAX_LINE - lead.chars().count()).collect();
    let (left, right) =
        (at.saturating_sub(lead.len()), bytes.len().saturating_sub(at + rest.len()));
    let left = if left > 0 { format!("[{left} bytes] ") } else { String::new() };
    let right = if right > 0 { format!(" [{right} bytes]") } else { String::new() };
    format!("{left}{lead}{rest}{right}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> String {
        Line::new(1, bytes, true, &RegexMatcher::new("needle").unwrap()).text
    }

    #[test]
    fn line_ends_are_removed_and_bytes_are_text() {
        assert_eq!(line(b"needle\r\n"), "needle");
        assert_eq!(line(b"needle \xff\n"), "needle \u{fffd}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let long = format!("{}needle{}\n", "ü".repeat(1000), "y".repeat(1000));
        let text = line(long.as_bytes());
        assert!(text.starts_with("[1800 bytes] üü"), "{text}");
        assert!(text.contains("üneedley") && text.ends_with("y [606 bytes]"), "{text}");
        assert_eq!(line("x".repeat(500).as_bytes()), "x".repeat(500));
    }
}
