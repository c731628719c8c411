//! A window of lines: first line, number of lines, length of lines and of all.

use std::borrow::Cow;
use tool_runtime::__seam::escaped_text;
use tool_runtime::ToolError;

/// Lines that are shown if a call gives no limit.
pub(in crate::files) const DEFAULT_LINES: usize = 2000;

/// Limit on the characters of a line.
pub(in crate::files) const MAX_LINE: usize = 2000;

/// Lines that are repeated with escapes.
const MAX_ESCAPED: usize = 3;

/// Limit on the characters of such a line.
const MAX_ESCAPED_LINE: usize = 200;

/// Limit on the characters of numbered lines. With notices, they are within the default limits on results of a pool.
const MAX_TEXT: usize = 28_000;

/// The lines that a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) struct Window {
    /// Number of the first line, counted from 1; negative numbers count from the end.
    pub(in crate::files) offset: i64,
    pub(in crate::files) limit: usize,
}

/// The text of a window.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) text: String,
    pub(super) first_line: usize,
    pub(super) lines: usize,
    /// Number of all lines, if known.
    pub(super) total: Option<usize>,
    /// The lines that were cut, counted from 0.
    pub(super) cut_lines: Vec<usize>,
    pub(super) is_truncated: bool,
}

impl Window {
    pub(in crate::files) fn new(offset: Option<i64>, limit: Option<usize>) -> Self {
        Self { offset: offset.unwrap_or(1), limit: limit.unwrap_or(DEFAULT_LINES) }
    }

    /// The index of the first line of a string with `total` lines.
    ///
    /// # Errors
    /// The window is past the end.
    pub(super) fn first(self, display_path: &str, total: usize) -> Result<usize, ToolError> {
        match usize::try_from(self.offset) {
            Ok(line) if line.saturating_sub(1) < total || total == 0 && line <= 1 => {
                Ok(line.saturating_sub(1))
            }
            Ok(line) => Err(past_the_end(display_path, line, total)),
            Err(_) => Ok(total
                .saturating_sub(usize::try_from(self.offset.unsigned_abs()).unwrap_or(usize::MAX))),
        }
    }

    pub(super) fn of_text(self, display_path: &str, content: &str) -> Result<Cut, ToolError> {
        let total = count_lines(content);
        let first = self.first(display_path, total)?;
        let mut writer = Writer::new(first + 1);
        let lines = lines_of(content).skip(first).take(self.limit);
        for line in lines {
            if !writer.push(line, Rest::default()) {
                break;
            }
        }
        Ok(writer.finish(Some(total), display_path))
    }
}

pub(super) fn past_the_end(display_path: &str, line: usize, total: usize) -> ToolError {
    ToolError::user(format!("`{display_path}` has {total} lines, and line {line} is past its end"))
}

/// Lines without their endings, which are `\n`, `\r\n`, or `\r` in a file without `\n`.
pub(in crate::files) fn lines_of(content: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    if content.contains('\n') {
        return Box::new(content.lines());
    }
    Box::new(content.split_terminator('\r'))
}

fn count_lines(content: &str) -> usize {
    lines_of(content).count()
}

/// The part of a line that was not read as text.
#[derive(Clone, Copy, Default)]
pub(super) struct Rest {
    pub(super) bytes: u64,
    /// Whether the line goes on after these bytes.
    pub(super) has_more: bool,
}

impl Rest {
    /// What is left out of a line, with text that was read.
    fn notice(self, hidden: &str) -> String {
        match self {
            Self { bytes: 0, has_more: false } if hidden.is_empty() => String::new(),
            Self { bytes: 0, has_more: false } => {
                format!(" [{} more characters]", hidden.chars().count())
            }
            Self { bytes, has_more } => {
                let more_than = if has_more { "more than " } else { "" };
                format!(" [{more_than}{} more bytes]", hidden.len() as u64 + bytes)
            }
        }
    }
}

/// Writes numbered lines.
pub(super) struct Writer {
    text: String,
    first_line: usize,
    lines: usize,
    characters: usize,
    cut_lines: Vec<usize>,
    /// The lines with characters that conceal or reorder text, by their numbers, with escapes.
    escaped: Vec<(usize, String)>,
}

impl Writer {
    pub(super) fn new(first_line: usize) -> Self {
        Self {
            text: String::new(),
            first_line,
            lines: 0,
            characters: 0,
            cut_lines: Vec::new(),
            escaped: Vec::new(),
        }
    }

    /// Appends a line. Returns false if there is no room for it.
    pub(super) fn push(&mut self, line: &str, rest: Rest) -> bool {
        let end = line.char_indices().nth(MAX_LINE).map(|(end, _)| end);
        let (visible, hidden) = line.split_at(end.unwrap_or(line.len()));
        let number = self.first_line + self.lines;
        let text = format!("{number:>6}\t{visible}{}\n", rest.notice(hidden));
        let length = text.chars().count();
        if self.characters + length > MAX_TEXT && self.lines > 0 {
            return false;
        }
        self.characters += length;
        self.cut_lines.extend(end.map(|_| number - 1));
        // Edits quote lines as they are, so these are not escaped themselves.
        if let Cow::Owned(escaped) = escaped_text(visible) {
            self.escaped.push((number, escaped));
        }
        self.text.push_str(&text);
        self.lines += 1;
        true
    }

    /// The text with notices of what is left out.
    pub(super) fn finish(mut self, total: Option<usize>, display_path: &str) -> Cut {
        let next = self.first_line + self.lines;
        let is_at_end = total.is_some_and(|total| next > total);
        if total == Some(0) {
            self.text = format!("[`{display_path}` is empty]\n");
        } else if !is_at_end {
            let of = total.map_or(String::new(), |total| format!(" of {total}"));
            let last = next - 1;
            let first = self.first_line;
            self.text
                .push_str(&format!("[lines {first} to {last}{of}; continue with offset {next}]\n"));
        }
        if !self.cut_lines.is_empty() {
            self.text.push_str(&format!(
                "[lines are cut after {MAX_LINE} characters; search for text in the rest, or run a command such as `cut -c {}-`]\n",
                MAX_LINE + 1
            ));
        }
        for (number, line) in self.escaped.iter().take(MAX_ESCAPED) {
            let line: String = line.chars().take(MAX_ESCAPED_LINE).collect();
            self.text.push_str(&format!(
                "[line {number} has control or reordering characters; with escapes it is: {line}]\n"
            ));
        }
        if let Some(more) = self.escaped.len().checked_sub(MAX_ESCAPED).filter(|more| *more > 0) {
            self.text.push_str(&format!("[{more} more lines have such characters]\n"));
        }
        Cut {
            text: self.text,
            first_line: if self.lines == 0 { 0 } else { self.first_line },
            lines: self.lines,
            total,
            is_truncated: !is_at_end || self.first_line > 1 || !self.cut_lines.is_empty(),
            cut_lines: self.cut_lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(content: &str, offset: i64, limit: usize) -> Result<Cut, String> {
        let window = Window { offset, limit };
        window.of_text("a.txt", content).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn lines_are_numbered_from_the_offset() {
        let text = |offset, limit| cut("a\nb\r\nc", offset, limit).unwrap().text;
        assert_eq!(text(1, 9), "     1\ta\n     2\tb\n     3\tc\n");
        assert_eq!(text(0, 1), "     1\ta\n[lines 1 to 1 of 3; continue with offset 2]\n");
        assert_eq!(text(-1, 9), "     3\tc\n");
        assert_eq!(text(-9, 1), "     1\ta\n[lines 1 to 1 of 3; continue with offset 2]\n");
        assert_eq!(text(2, 1), "     2\tb\n[lines 2 to 2 of 3; continue with offset 3]\n");
    }

    #[test]
    fn lines_that_conceal_text_are_repeated_with_escapes() {
        let text = cut("a\nb\u{202e}c\n\u{1b}[31md\te\r\n", 1, 9).unwrap().text;
        let has = |notice: &str| assert!(text.contains(notice), "{text}");
        has("[line 2 has control or reordering characters; with escapes it is: b\\u{202e}c]\n");
        has("with escapes it is: \\u{1b}[31md\te]\n");
        assert!(text.starts_with("     1\ta\n     2\tb\u{202e}c\n"), "{text}");
        let many = cut(&"\u{1b}x\n".repeat(9), 1, 9).unwrap().text;
        assert!(many.ends_with("[6 more lines have such characters]\n"), "{many}");
    }

    #[test]
    fn the_error_past_the_end_names_the_total() {
        let error = cut("a\nb\n", 3, 9).unwrap_err();
        assert_eq!(error, "`a.txt` has 2 lines, and line 3 is past its end");
        assert_eq!(cut("", 1, 9).unwrap().text, "[`a.txt` is empty]\n");
    }

    #[test]
    fn long_lines_and_long_results_are_cut_with_a_notice() {
        let long = "ä".repeat(MAX_LINE + 5);
        let result = cut(&long, 1, 9).unwrap();
        let notice = "[lines are cut after 2000 characters; search for text in the rest, or run a command such as `cut -c 2001-`]\n";
        assert!(result.text.ends_with(&format!("ä [5 more characters]\n{notice}")));
        assert!(result.is_truncated);
        let many = format!("{}\n", "x".repeat(992)).repeat(200);
        let result = cut(&many, 1, 2000).unwrap();
        assert_eq!(result.lines, 28);
        assert!(result.text.ends_with("[lines 1 to 28 of 200; continue with offset 29]\n"));
    }

    #[test]
    fn numbers_and_notices_count_as_characters() {
        for line in ["", "x", &"x".repeat(MAX_LINE + 1)] {
            let mut writer = Writer::new(1_000_000_000);
            while writer.push(line, Rest::default()) {}
            let text = writer.finish(None, "a.txt").text;
            assert!((25_000..30_000).contains(&text.len()), "{}", text.len());
        }
    }
}
