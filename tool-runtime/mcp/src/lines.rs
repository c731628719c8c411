//! Splits a byte stream into lines.

use memchr::memchr;

/// Free space for each read: the capacity of a Linux pipe.
pub const CHUNK: usize = 64 * 1024;

/// Default limit of a line; that of rmcp.
pub const DEFAULT_LINE_LIMIT: usize = 16 * 1024 * 1024;

/// A larger buffer is freed once its lines are consumed.
const MAX_KEPT: usize = 16 * CHUNK;

/// Kept bytes of the beginning and of the end of a line over the limit.
const ENDS: usize = 4 * 1024;

/// UTF-8's byte order mark, which some hosts write before their first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line as the peer sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line that is not blank, without its end and surrounding white space.
    Whole(&'a [u8]),
    /// A line over the limit. Reported once, when the limit is passed; the rest is skipped.
    TooLong {
        /// The limit.
        limit: usize,
    },
}

/// Bytes read and not yet consumed, with the position the search has reached.
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the first unconsumed line.
    start: usize,
    /// The range from `start` to here contains no newline, so that a long line is searched only once.
    searched: usize,
    limit: usize,
    /// Inside a line that was reported as too long.
    skipping: bool,
    /// Before the first line, where a byte order mark may be.
    at_beginning: bool,
    ended: bool,
    /// Both ends of the last line over the limit, if kept: the line is then reported at its end.
    ends: Option<Ends>,
}

/// The beginning and the end of a line over the limit.
#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl LineBuffer {
    /// An empty buffer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            skipping: false,
            at_beginning: true,
            ended: false,
            ends: None,
        }
    }

    /// Keeps the beginning and the end of lines over the limit, which are reported when they have
    /// ended.
    pub fn keeping_ends(mut self) -> Self {
        self.ends = Some(Ends::default());
        self
    }

    /// The beginning and the end of the last line over the limit, where they are kept.
    pub fn ends(&self) -> (&[u8], &[u8]) {
        self.ends.as_ref().map_or((&[], &[]), |ends| (&ends.head, &ends.tail))
    }

    /// Changes the limit for later lines.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Notes the end of the input: remaining bytes are a line.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether all bytes are consumed.
    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Whether [`LineBuffer::end`] was called.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The vector to append to, with at least [`CHUNK`] bytes to spare.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.compact();
        if self.bytes.capacity() - self.bytes.len() < CHUNK {
            self.bytes.reserve(CHUNK);
        }
        &mut self.bytes
    }

    /// Appends a chunk, without a copy if the buffer is empty.
    pub fn append(&mut self, chunk: Vec<u8>) {
        self.compact();
        if self.bytes.is_empty() {
            self.bytes = chunk;
        } else {
            self.bytes.extend_from_slice(&chunk);
        }
    }

    /// Removes the consumed lines, and the memory of a huge line.
    fn compact(&mut self) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            if self.bytes.capacity() > MAX_KEPT {
                self.bytes = Vec::new();
            }
        } else if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.searched -= self.start;
        self.start = 0;
    }

    /// The next line that is not blank, or `None` until more bytes arrive.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let (start, end) = match self.cut()? {
                Cut::TooLong => return Some(Line::TooLong { limit: self.limit }),
                Cut::Line { start, end } => (start, end),
            };
            // The range is trimmed by number: returning a borrow from inside the loop would
            // keep `self` borrowed in the next round.
            let (start, end) = self.trim(start, end);
            if start < end {
                return Some(Line::Whole(&self.bytes[start..end]));
            }
        }
    }

    /// Consumes up to and including the next line end.
    fn cut(&mut self) -> Option<Cut> {
        loop {
            let start = self.start;
            let Some(found) = memchr(b'\n', &self.bytes[self.searched..]) else {
                return self.cut_unfinished();
            };
            let end = self.searched + found;
            self.consume(end + 1);
            if std::mem::take(&mut self.skipping) {
                if self.keep_ends(start, end) {
                    return Some(Cut::TooLong);
                }
                continue;
            }
            return Some(self.check_limit(start, end));
        }
    }

    /// Handles a buffer without a line end.
    fn cut_unfinished(&mut self) -> Option<Cut> {
        let (start, end) = (self.start, self.bytes.len());
        self.searched = end;
        if self.skipping {
            self.consume(end);
            let is_late = self.keep_ends(start, end) && self.ended;
            self.skipping = !is_late;
            return is_late.then_some(Cut::TooLong);
        }
        if end - start > self.limit {
            self.consume(end);
            let is_late = self.begin_ends(start, end) && !self.ended;
            self.skipping = !self.ended;
            return (!is_late).then_some(Cut::TooLong);
        }
        if !self.ended || start == end {
            return None;
        }
        self.consume(end);
        Some(self.check_limit(start, end))
    }

    /// Moves past everything before `position`.
    fn consume(&mut self, position: usize) {
        self.start = position;
        self.searched = position;
    }

    /// Applies the limit to a complete line.
    fn check_limit(&mut self, start: usize, end: usize) -> Cut {
        if end - start > self.limit {
            self.begin_ends(start, end);
            return Cut::TooLong;
        }
        Cut::Line { start, end }
    }

    /// Keeps both ends of the beginning of a line over the limit. `false` if ends are not kept.
    fn begin_ends(&mut self, start: usize, end: usize) -> bool {
        let Some(ends) = &mut self.ends else { return false };
        let line = &self.bytes[start..end];
        ends.head = line[..line.len().min(ENDS)].to_vec();
        ends.tail.clear();
        ends.grow(line);
        true
    }

    /// Keeps the end of another part of a line over the limit. `false` if ends are not kept.
    fn keep_ends(&mut self, start: usize, end: usize) -> bool {
        let Some(ends) = &mut self.ends else { return false };
        ends.grow(&self.bytes[start..end]);
        true
    }

    /// Narrows a line to its content: no byte order mark, no white space (so no carriage return).
    fn trim(&mut self, mut start: usize, end: usize) -> (usize, usize) {
        if std::mem::take(&mut self.at_beginning) && self.bytes[start..end].starts_with(BOM) {
            start += BOM.len();
        }
        let line = &self.bytes[start..end];
        let leading = line.len() - line.trim_ascii_start().len();
        (start + leading, start + line.trim_ascii_end().len())
    }
}

impl Ends {
    fn grow(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(ENDS)..]);
        let excess = self.tail.len().saturating_sub(ENDS);
        self.tail.drain(..excess);
    }
}

/// A line by position, which does not borrow the buffer.
enum Cut {
    /// The bytes from `start` to `end`, line end excluded.
    Line {
        /// First byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// Over the limit.
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Independent of chunks and of a final line end.
        #[test]
        fn a_line_over_the_limit_is_reported_once_with_its_ends(
            chunk in 1..30_000_usize,
            length in 101..50_000_usize,
            is_last: bool,
        ) {
            let line = ["<".repeat(50), "x".repeat(length - 100), ">".repeat(50)].concat();
            let text = if is_last { format!("a\n{line}") } else { format!("a\n{line}\nb\n") };
            let mut buffer = LineBuffer::new(100).keeping_ends();
            let (mut reported, mut found) = (0, String::new());
            let chunks = text.as_bytes().chunks(chunk).map(Some).chain([None]);
            for chunk in chunks {
                match chunk {
                    Some(chunk) => buffer.room().extend_from_slice(chunk),
                    None => buffer.end(),
                }
                while let Some(next) = buffer.next_line() {
                    match next {
                        Line::Whole(line) => found.push_str(&String::from_utf8_lossy(line)),
                        Line::TooLong { .. } => {
                            reported += 1;
                            let (head, tail) = buffer.ends();
                            prop_assert!(head.len() <= ENDS && line.as_bytes().starts_with(head));
                            prop_assert!(tail.len() <= ENDS && line.as_bytes().ends_with(tail));
                            prop_assert!(head.starts_with(b"<<") && tail.ends_with(b">>"));
                        }
                    }
                }
            }
            prop_assert_eq!((reported, &*found), (1, if is_last { "a" } else { "ab" }));
        }
    }
}
