//! Text without its escapes, so that a secret is found however it is escaped.

use std::ops::Range;

/// Escapes inside escapes are removed this many times.
const MAX_NESTED: usize = 3;

/// Bytes without escapes, each with its position in the original text.
pub(super) struct View {
    bytes: Vec<u8>,
    /// The position of each byte, and at the end the length of the text.
    starts: Vec<usize>,
}

impl View {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Maps a range of these bytes to a range of the original text.
    pub(super) fn range(&self, bytes: Range<usize>) -> Range<usize> {
        self.starts[bytes.start]..self.starts[bytes.end]
    }

    /// Removes one layer of escapes. `None` if the text has no escapes.
    fn unescape_once(bytes: &[u8], starts: impl Fn(usize) -> usize, read: Read) -> Option<Self> {
        let mut view = Self { bytes: Vec::new(), starts: Vec::new() };
        let (mut at, mut is_escaped) = (0, false);
        while at < bytes.len() {
            let start = starts(at);
            let (length, read) = match read(&bytes[at..]) {
                Some((length, text)) => {
                    is_escaped = true;
                    (length, text)
                }
                None => (1, Unescaped::Byte(bytes[at])),
            };
            view.push(read, start);
            at += length;
        }
        view.starts.push(starts(bytes.len()));
        is_escaped.then_some(view)
    }

    fn push(&mut self, read: Unescaped, start: usize) {
        match read {
            Unescaped::Byte(byte) => self.bytes.push(byte),
            Unescaped::Char(character) => {
                self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        self.starts.resize(self.bytes.len(), start);
    }
}

enum Unescaped {
    Byte(u8),
    Char(char),
}

/// Reads the escape that some bytes begin with: its length and its meaning.
type Read = fn(&[u8]) -> Option<(usize, Unescaped)>;

/// The text without percent-encoding and without JSON's escapes, each only if it has them. Escapes
/// that every writer of JSON uses are forms of the secrets, so a string with no others is not copied.
pub(super) fn views(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    if text.contains('%') {
        views.extend(unescaped(text, percent));
    }
    if text.contains("\\u") || text.contains("\\/") {
        views.extend(unescaped(text, json));
    }
    views
}

fn unescaped(text: &str, read: Read) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    while views.len() < MAX_NESTED {
        let view = match views.last() {
            None => View::unescape_once(text.as_bytes(), |at| at, read),
            Some(outer) => View::unescape_once(&outer.bytes, |at| outer.starts[at], read),
        };
        match view {
            Some(view) => views.push(view),
            None => break,
        }
    }
    views
}

fn percent(bytes: &[u8]) -> Option<(usize, Unescaped)> {
    match bytes {
        [b'%', high, low, ..] => {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
            Some((3, Unescaped::Byte(byte)))
        }
        _ => None,
    }
}

fn json(bytes: &[u8]) -> Option<(usize, Unescaped)> {
    let [b'\\', kind, ..] = bytes else { return None };
    let simple = |byte| Some((2, Unescaped::Byte(byte)));
    match kind {
        b'"' | b'\\' | b'/' => simple(*kind),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'b' => simple(8),
        b'f' => simple(12),
        b'u' => {
            let first = unit(bytes)?;
            let pair = || char::decode_utf16([first, unit(&bytes[6..])?]).next()?.ok();
            match char::from_u32(first.into()) {
                Some(character) => Some((6, Unescaped::Char(character))),
                None => Some((12, Unescaped::Char(pair()?))),
            }
        }
        _ => None,
    }
}

/// The number of `\uXXXX`.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(unit * 16 + u16::try_from(digit).ok()?)
    })
}
