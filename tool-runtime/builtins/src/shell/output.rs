//! The output of a process: its head and tail in memory, all of it in a file once that is too little.

use super::scratch::ScratchFile;
use regex::{Regex, bytes};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;
use tool_runtime::__seam::escaped_text;

/// The output of a process that was not read yet.
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes of `head`, and of `tail`.
    half: usize,
    /// Bytes between head and tail that are not in memory.
    skipped: u64,
    /// All bytes since the start.
    total: u64,
    file: Spill,
}

/// A text of an output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// The file with the output, if the text is not all of it.
    pub(super) file: Option<PathBuf>,
    /// Lines that a filter has removed.
    pub(super) removed: usize,
}

impl Output {
    /// An output that keeps at most `limit` bytes in memory. The file is created when it is needed.
    pub(super) fn new(limit: usize, file: ScratchFile) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { head, tail, half: limit / 2, skipped: 0, total: 0, file: Spill::new(file) }
    }

    /// Bytes since the start.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.file.is_absent() && self.unread() + bytes.len() > 2 * self.half {
            self.store();
        }
        self.file.write(bytes);
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.skipped += excess as u64;
    }

    /// Stores everything from now on, and what is unread.
    pub(super) fn store(&mut self) {
        self.file.open();
        let (first, second) = self.tail.as_slices();
        for part in [self.head.as_slice(), first, second] {
            self.file.write(part);
        }
    }

    fn unread(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The text since the last one, with the escape sequences of terminals. An incomplete character at the end is kept for
    /// the next, unless this is the last.
    pub(super) fn take_with_sequences(&mut self, is_last: bool) -> Text {
        self.take_rendered(is_last, Lines { filter: None, keeps_sequences: true, removed: 0 })
    }

    /// The text since the last one, of which only lines that match the filter are shown. With a filter, an incomplete line
    /// is kept for the next; without one, an incomplete character or escape sequence. Escape sequences, such as
    /// colours, are removed.
    pub(super) fn take_lines(&mut self, is_last: bool, filter: Option<&Regex>) -> Text {
        self.take_rendered(is_last, Lines { filter, keeps_sequences: false, removed: 0 })
    }

    fn take_rendered(&mut self, is_last: bool, mut lines: Lines<'_>) -> Text {
        let (mut head, mut tail) =
            (std::mem::take(&mut self.head), Vec::from(std::mem::take(&mut self.tail)));
        if self.skipped == 0 {
            head.append(&mut tail);
        }
        let end = if tail.is_empty() { &mut head } else { &mut tail };
        if !is_last {
            let from = match lines.filter {
                Some(_) => last_line_end(end).map_or(0, |end| end + 1),
                None => end.len() - incomplete(end).max(incomplete_sequence(end)),
            };
            let mut kept = end.split_off(from);
            self.tail = kept.split_off(kept.len().min(self.half)).into();
            self.head = kept;
        }
        let skipped = std::mem::take(&mut self.skipped);
        let file = if skipped > 0 { self.file.show() } else { None };
        let text = join(&head, skipped, &tail, &self.file.contents(), &mut lines);
        Text { text, file, removed: lines.removed }
    }
}

/// Bytes at the end that begin a character and do not complete it.
fn incomplete(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let start = (from..bytes.len()).find(|start| {
        let error = std::str::from_utf8(&bytes[*start..]).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    start.map_or(0, |start| bytes.len() - start)
}

/// Head and tail with a notice between them, which says what the file has. They are cut at ends of lines if these are near.
fn join(head: &[u8], skipped: u64, tail: &[u8], stored: &str, lines: &mut Lines<'_>) -> String {
    if skipped == 0 {
        return lines.filter(&[head, tail].concat());
    }
    let head_end = last_line_end(head).filter(|end| head.len() - end < 1000);
    let (head, cut_head) =
        head.split_at(head_end.map_or(head.len() - incomplete(head), |end| end + 1));
    let tail_start = tail.iter().take(1000).position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (cut_tail, tail) = tail.split_at(tail_start.max(continuation(tail)));
    let skipped = skipped + (cut_head.len() + cut_tail.len()) as u64;
    let unseen = if lines.filter.is_some() { ", unseen by `filter`" } else { "" };
    let notice = format!("[{skipped} bytes are left out here{unseen}; {stored}]");
    let (head, tail) = (lines.filter(head), lines.filter(tail));
    format!("{}\n{notice}\n{tail}", head.trim_end_matches('\n'))
}

/// Shows lines, those that match a filter if there is one.
struct Lines<'f> {
    filter: Option<&'f Regex>,
    /// Whether escape sequences of terminals stay in the text.
    keeps_sequences: bool,
    removed: usize,
}

impl Lines<'_> {
    fn filter(&mut self, bytes: &[u8]) -> String {
        let text = match self.keeps_sequences {
            true => with_sequences(bytes),
            false => plain(bytes),
        };
        let Some(filter) = self.filter else { return text };
        let matches = |line: &&str| {
            let is_match = filter.is_match(line.trim_end_matches(['\r', '\n']));
            self.removed += usize::from(!is_match);
            is_match
        };
        text.split_inclusive('\n').filter(matches).collect()
    }
}

fn last_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

/// Bytes at the start that belong to a character before them.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count()
}

/// Escape sequences of terminals: colours, titles, links, movements of the cursor.
static SEQUENCE: LazyLock<bytes::Regex> = LazyLock::new(|| {
    let pattern = r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])";
    bytes::Regex::new(pattern).expect("a valid pattern")
});

/// The beginning of one at the end of an output.
static INCOMPLETE: LazyLock<bytes::Regex> = LazyLock::new(|| {
    let pattern = r"(?-u)\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$";
    bytes::Regex::new(pattern).expect("a valid pattern")
});

/// Bytes of a sequence that is waited for.
const MAX_SEQUENCE: usize = 1000;

/// Bytes at the end that begin an escape sequence and do not complete it.
fn incomplete_sequence(bytes: &[u8]) -> usize {
    let end = &bytes[bytes.len().saturating_sub(MAX_SEQUENCE)..];
    INCOMPLETE.find(end).map_or(0, |found| found.len())
}

/// Text without escape sequences: bytes that are not UTF-8, and NUL, which is frequent in binary data, become replacement
/// characters, and other control characters are written as escapes.
fn plain(bytes: &[u8]) -> String {
    let bytes = SEQUENCE.replace_all(bytes, &b""[..]);
    let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    escaped_text(&text).into_owned()
}

/// Valid text: bytes that are not, and control characters but those of terminals, become replacement characters.
fn with_sequences(bytes: &[u8]) -> String {
    let is_kept = |letter: char| {
        !letter.is_control() || matches!(letter, '\n' | '\t' | '\r' | '\x07' | '\x1b')
    };
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|letter| if is_kept(letter) { letter } else { char::REPLACEMENT_CHARACTER })
        .collect()
}

/// A file for a whole output. Removed with its value, unless its path was given to a model.
struct Spill {
    file: ScratchFile,
    state: SpillState,
    written: u64,
    is_linked: bool,
}

enum SpillState {
    Absent,
    Open(File),
    /// A full disk or an endless output: the file, if there is one, ends early.
    Failed,
}

impl Spill {
    fn new(file: ScratchFile) -> Self {
        Self { file, state: SpillState::Absent, written: 0, is_linked: false }
    }

    fn is_absent(&self) -> bool {
        matches!(self.state, SpillState::Absent)
    }

    /// The path for models, if the file has something.
    fn show(&mut self) -> Option<PathBuf> {
        self.is_linked |= self.written > 0;
        self.is_linked.then(|| self.file.path.clone())
    }

    /// The part of the output that the file has.
    fn contents(&self) -> String {
        let path = self.file.path.display();
        match self.state {
            _ if self.written == 0 => "they could not be stored".to_owned(),
            SpillState::Failed => format!(
                "the first {} bytes of the output are in `{path}`, the rest could not be stored",
                self.written
            ),
            SpillState::Absent | SpillState::Open(_) => format!("all of it is in `{path}`"),
        }
    }

    fn open(&mut self) {
        match self.file.create() {
            Ok(file) => self.state = SpillState::Open(file),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let SpillState::Open(file) = &mut self.state else { return };
        let room = usize::try_from(self.file.max_output.saturating_sub(self.written))
            .unwrap_or(usize::MAX);
        let stored = &bytes[..room.min(bytes.len())];
        match file.write_all(stored) {
            Ok(()) => self.written += stored.len() as u64,
            Err(error) => return self.fail(&error.to_string()),
        }
        if stored.len() < bytes.len() {
            self.fail("too long");
        }
    }

    fn fail(&mut self, reason: &str) {
        tracing::warn!(path = %self.file.path.display(), "an output is not stored whole: {reason}");
        self.state = SpillState::Failed;
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if !self.is_linked && !self.is_absent() {
            self.file.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    fn output(limit: usize) -> (Scratch, Output) {
        let scratch = Scratch::new(u64::MAX);
        let output = Output::new(limit, scratch.file("all").unwrap());
        (scratch, output)
    }

    #[test]
    fn a_file_that_no_result_names_is_removed() {
        for (bytes, is_kept) in [(&b"short"[..], false), (b"longer than the limit", true)] {
            let (scratch, mut output) = output(10);
            output.store();
            output.push(bytes);
            output.take_lines(true, None);
            let path = output.file.file.path.clone();
            assert!(path.exists());
            drop(output);
            assert_eq!(path.exists(), is_kept);
            drop(scratch);
        }
    }

    #[test]
    fn a_short_output_is_whole_and_has_no_file() {
        let (_scratch, mut output) = output(10);
        output.push(b"12345");
        output.push(b"67890");
        assert_eq!(
            output.take_lines(true, None),
            Text { text: "1234567890".into(), ..Text::default() }
        );
        assert_eq!(output.take_lines(true, None), Text::default());
        assert!(!output.file.file.path.exists());
    }

    #[test]
    fn head_and_tail_of_a_long_output_stay_and_all_of_it_is_stored() {
        let (_scratch, mut output) = output(20);
        let all: String = (0..1000).map(|number| format!("{number}\n")).collect();
        for part in all.as_bytes().chunks(7) {
            output.push(part);
        }
        let Text { text, file, .. } = output.take_lines(true, None);
        let file = file.unwrap();
        let notice =
            format!("[3872 bytes are left out here; all of it is in `{}`]", file.display());
        assert_eq!(text, format!("0\n1\n2\n3\n4\n{notice}\n998\n999\n"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), all);
        assert_eq!(output.total(), all.len() as u64);
    }

    #[test]
    fn a_filter_sees_whole_lines_and_keeps_the_notice() {
        let filter = Regex::new("^(keep|\\d\\d8$)").unwrap();
        let (_scratch, mut output) = output(60);
        output.push(b"drop\nkeep 1\nke");
        let taken = output.take_lines(false, Some(&filter));
        assert_eq!((&*taken.text, taken.removed), ("keep 1\n", 1));
        output.push(b"ep 2\n");
        assert_eq!(output.take_lines(false, Some(&filter)).text, "keep 2\n");
        // An incomplete line that is longer than half of the memory.
        output.push(b"keep 3");
        output.push(&[b'.'; 30]);
        assert_eq!(output.take_lines(false, Some(&filter)).text, "");
        output.push(b"\n");
        assert_eq!(output.take_lines(false, Some(&filter)).text.len(), 37);
        for number in 0..1000 {
            output.push(format!("{number}\n").as_bytes());
        }
        let taken = output.take_lines(true, Some(&filter));
        let notice = " bytes are left out here, unseen by `filter`; all of it is in `";
        let text = taken.text;
        assert!(
            text.starts_with("\n[") && text.contains(notice) && text.ends_with("`]\n998\n"),
            "{text}"
        );
    }

    #[test]
    fn the_notice_says_how_much_of_an_endless_output_is_stored() {
        let (_scratch, mut output) = output(20);
        output.file.file.max_output = 100;
        for _ in 0..30 {
            output.push(b"0123456789\n");
        }
        let Text { text, file, .. } = output.take_lines(true, None);
        let file = file.unwrap();
        let expected = format!(
            "the first 100 bytes of the output are in `{}`, the rest could not be stored]",
            file.display()
        );
        assert!(text.contains(&expected) && !text.contains("all of it"), "{text}");
        assert_eq!(std::fs::metadata(file).unwrap().len(), 100);
    }

    #[test]
    fn characters_are_never_split() {
        let (_scratch, mut output) = output(8);
        output.push("ü".as_bytes().split_at(1).0);
        assert_eq!(output.take_lines(false, None).text, "");
        output.push("ü".as_bytes().split_at(1).1);
        assert_eq!(output.take_lines(false, None).text, "ü");
        output.push(&"ü".as_bytes()[..1]);
        assert_eq!(output.take_lines(true, None).text, "\u{fffd}");
        let (_scratch, mut output) = self::output(9);
        output.push("€".repeat(9).as_bytes());
        let text = output.take_lines(true, None).text;
        assert!(text.starts_with("€\n[") && text.ends_with("]\n€"), "{text}");
    }

    #[test]
    fn colours_and_other_sequences_are_removed_however_they_arrive() {
        let written =
            b"\x1b[1;31mred\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x07 \x1b(B\x1b7.\x1b";
        for length in 1..written.len() {
            let (_scratch, mut output) = output(1000);
            let mut text = String::new();
            for piece in written.chunks(length) {
                output.push(piece);
                text += &output.take_lines(false, None).text;
            }
            text += &output.take_lines(true, None).text;
            assert_eq!(text, "red link .\\u{1b}", "{length}");
        }
    }

    #[test]
    fn every_text_is_valid() {
        let (_scratch, mut output) = output(100);
        output.push(b"a\xff\x00\x01\tb\xc3");
        assert_eq!(output.take_lines(true, None).text, "a\u{fffd}\u{fffd}\\u{1}\tb\u{fffd}");
    }
}
