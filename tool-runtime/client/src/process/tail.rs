//! The last lines of a stream.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::{Redactor, lock, printable};

/// Limit on the kept bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Limit on the kept lines, including empty ones.
const MAX_LINES: usize = 200;

/// Limit on the bytes of one line; the rest is dropped.
const MAX_LINE: usize = 2 * 1024;

/// The last lines, printable and without secrets.
pub(super) struct Tail {
    redactor: Arc<Redactor>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Box<str>>,
    /// The length of all lines, with their line ends.
    length: usize,
    /// The unfinished line: not shown, since a part of a secret is not recognized.
    unfinished: Vec<u8>,
}

impl Tail {
    pub(super) fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, state: Mutex::default() }
    }

    /// Takes a chunk and passes every complete line to `each`.
    pub(super) fn take(&self, bytes: &[u8], each: impl Fn(&str)) {
        let mut state = self.lock();
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        state.grow(pieces.next().unwrap_or_default(), self.room());
        for piece in pieces {
            self.end_line(&mut state, &each);
            state.grow(piece, self.room());
        }
    }

    /// Takes a line of another stream.
    pub(super) fn take_line(&self, line: &[u8], each: impl Fn(&str)) {
        let room = self.room().min(line.len());
        let line = self.redact(&line[..room]);
        each(&line);
        self.lock().keep(line.into());
    }

    /// Ends the stream: an unfinished line counts as a line.
    pub(super) fn finish(&self, each: impl Fn(&str)) {
        let mut state = self.lock();
        if !state.unfinished.is_empty() {
            self.end_line(&mut state, &each);
        }
        state.unfinished = Vec::new();
    }

    /// All kept lines.
    pub(super) fn text(&self) -> String {
        let state = self.lock();
        state.lines.iter().map(|line| &**line).collect::<Vec<_>>().join("\n")
    }

    /// The bytes to collect of a line. It is cut after secrets are replaced, so that none is cut in two.
    fn room(&self) -> usize {
        MAX_LINE + self.redactor.longest()
    }

    fn end_line(&self, state: &mut State, each: &impl Fn(&str)) {
        let line = self.redact(&state.unfinished);
        state.unfinished.clear();
        each(&line);
        state.keep(line.into());
    }

    /// A line of at most `room` bytes, printable and without secrets.
    fn redact(&self, line: &[u8]) -> String {
        let line_text = printable(&String::from_utf8_lossy(line));
        let mut redacted = self.redactor.text(&line_text).into_owned();
        // A line of the maximum length may end in the middle of a secret.
        let half = if line.len() == self.room() { self.redactor.longest() } else { 0 };
        truncate_middle(&mut redacted, half);
        redacted
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn grow(&mut self, piece: &[u8], room: usize) {
        let space = room.saturating_sub(self.unfinished.len());
        self.unfinished.extend_from_slice(&piece[..piece.len().min(space)]);
    }

    fn keep(&mut self, line: Box<str>) {
        self.length += line.len() + 1;
        self.lines.push_back(line);
        while self.length > MAX_BYTES || self.lines.len() > MAX_LINES {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.length -= oldest.len() + 1;
        }
    }
}

/// Cuts a line to its limit, and by at least `half` bytes.
fn truncate_middle(line: &mut String, half: usize) {
    let end = line.len().saturating_sub(half).min(MAX_LINE);
    if end < line.len() {
        let boundary = (0..=end).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(boundary.unwrap_or(0));
        line.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tail_of(secrets: &[(&str, &str)], chunks: &[&[u8]]) -> Tail {
        let secrets =
            secrets.iter().map(|(name, secret)| (format!("${{{name}}}"), (*secret).to_owned()));
        let tail = Tail::new(Arc::new(Redactor::new(secrets)));
        chunks.iter().for_each(|chunk| tail.take(chunk, |_| ()));
        tail
    }

    #[test]
    fn lines_are_put_together_from_pieces() {
        let tail = tail_of(&[], &[b"on", b"e\ntwo\nth", b"ree"]);
        assert_eq!(tail.text(), "one\ntwo");
        tail.finish(|line| assert_eq!(line, "three"));
        assert_eq!(tail.text(), "one\ntwo\nthree");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let lines: String = (0..1000).map(|number| format!("line {number}\n")).collect();
        let text = tail_of(&[], &[lines.as_bytes()]).text();
        assert!(text.starts_with("line 800\n") && text.ends_with("\nline 999"), "{text}");
    }

    #[test]
    fn a_line_from_another_file_is_shown() {
        let tail = tail_of(&[("TOKEN", "s3cret-value")], &[b"begun, "]);
        tail.take_line(b"\x1b[1mneeds s3cret-value", |_| ());
        tail.take_line(&[b'x'; 1 << 20], |_| ());
        tail.take(b"ended\n", |_| ());
        let lines = tail.text();
        let lines: Vec<_> = lines.split('\n').collect();
        assert_eq!((lines[0], lines[2]), ("needs ${TOKEN}", "begun, ended"));
        assert!(lines[1].len() <= MAX_LINE + '…'.len_utf8());
    }

    #[test]
    fn long_lines_displace_other_lines() {
        let line = ["x".repeat(1023), "\n".to_owned()].concat();
        let text = tail_of(&[], &[line.repeat(100).as_bytes()]).text();
        assert_eq!(text.len(), MAX_BYTES - 1);
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let tail = tail_of(&[("KEY", "a secret")], &vec![&[b'x'; 4096][..]; 1000]);
        assert!(tail.lock().unfinished.capacity() <= 2 * tail.room());
        tail.finish(|_| ());
        assert_eq!(tail.text(), format!("{}…", "x".repeat(MAX_LINE)));
        assert_eq!(tail.lock().unfinished.capacity(), 0);
    }

    #[test]
    fn values_are_shown_by_their_names() {
        let known = [("TOKEN", "s3cret-value"), ("LEVEL", "debug"), ("PEM", "first l.\nsecond l.")];
        let printed = b"debug: bad \x1b[1ms3cret\x1b[0m-value at second l.\n";
        let text = tail_of(&known, &[printed]).text();
        assert_eq!(text, "debug: bad ${TOKEN} at ${PEM}");
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// The value may be at any position, in any chunks.
        #[test]
        fn no_part_of_a_value_is_shown(
            before in 0..2 * MAX_LINE,
            colours in 0..400_usize,
            chunk in 1..5000_usize,
        ) {
            let value = "0123456789abcdefghij";
            let line = format!("{}{}{value}\n", "\u{1b}[1m".repeat(colours), "-".repeat(before));
            let chunks: Vec<&[u8]> = line.as_bytes().chunks(chunk).collect();
            let text = tail_of(&[("KEY", value)], &chunks).text();
            prop_assert!(!text.contains("0"), "{text}");
            prop_assert!(text.len() <= MAX_LINE + '…'.len_utf8());
        }
    }
}
