//! Positions: lines and characters for models, code units for servers.

use gen_lsp_types::{Position, Range};
use std::sync::Arc;

/// The unit of columns that client and server agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// The names that a client offers, the best first.
    pub(super) const OFFERED: [&str; 3] = ["utf-32", "utf-8", "utf-16"];

    /// The encoding that a server chose. Without a choice it is UTF-16.
    pub(super) fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("utf-8") => Self::Utf8,
            Some("utf-32") => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn length(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The units before a character of a line, counted from 0.
    fn units(self, line: &str, characters: usize) -> usize {
        line.chars().take(characters).map(|character| self.length(character)).sum()
    }

    /// The characters before a unit of a line. A unit within a character belongs to it, one after the end to the end.
    fn characters(self, line: &str, units: usize) -> usize {
        let mut end = 0;
        let is_before = |character: &char| {
            end += self.length(*character);
            end <= units
        };
        line.chars().take_while(is_before).count()
    }
}

/// A text with its lines, without their endings.
pub(super) struct Lines {
    text: Arc<str>,
    /// Begin and end of each line.
    lines: Vec<(usize, usize)>,
}

impl Lines {
    /// Lines end with `\n`, `\r\n` or `\r`, as the protocol says.
    pub(super) fn from_text(text: Arc<str>) -> Self {
        let (mut lines, mut start) = (Vec::new(), 0);
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if at > 0 && bytes[at - 1] == b'\r' => start = at + 1,
                b'\n' | b'\r' => {
                    lines.push((start, at));
                    start = at + 1;
                }
                _ => {}
            }
        }
        lines.push((start, text.len()));
        Self { text, lines }
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    /// A line, counted from 0; empty after the end.
    pub(super) fn line(&self, number: usize) -> &str {
        self.lines.get(number).map_or("", |(start, end)| &self.text[*start..*end])
    }

    /// A position for the server, from a line and a character counted from 1.
    pub(super) fn position(&self, line: usize, character: usize, encoding: Encoding) -> Position {
        let units = encoding.units(self.line(line - 1), character - 1);
        Position { line: line as u32 - 1, character: units as u32 }
    }

    /// Line and character, counted from 1.
    pub(super) fn line_and_character(
        &self,
        position: Position,
        encoding: Encoding,
    ) -> (usize, usize) {
        let line = position.line as usize;
        (line + 1, encoding.characters(self.line(line), position.character as usize) + 1)
    }

    /// The bytes of a range.
    pub(super) fn bytes(&self, range: &Range, encoding: Encoding) -> std::ops::Range<usize> {
        let offset = |position: Position| {
            let Some((start, end)) = self.lines.get(position.line as usize) else {
                return self.text.len();
            };
            let line = &self.text[*start..*end];
            let characters = encoding.characters(line, position.character as usize);
            start + line.chars().take(characters).map(char::len_utf8).sum::<usize>()
        };
        offset(range.start)..offset(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::from_text("a\r\n😀é=x\rlast".into());
        assert_eq!(
            (lines.count(), lines.line(1), lines.line(2), lines.line(9)),
            (3, "😀é=x", "last", "")
        );
        for (encoding, units) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            let position = lines.position(2, 4, encoding);
            assert_eq!(position, Position { line: 1, character: units });
            assert_eq!(lines.line_and_character(position, encoding), (2, 4));
        }
        // Within a character, and after the end of a line.
        assert_eq!(
            lines.line_and_character(Position { line: 1, character: 1 }, Encoding::Utf16),
            (2, 1)
        );
        assert_eq!(
            lines.line_and_character(Position { line: 1, character: 99 }, Encoding::Utf16),
            (2, 5)
        );
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn positions_survive_every_encoding(text in "(\\PC|\n|\r){0,20}", line in 1..5_usize, character in 1..9_usize) {
            let lines = Lines::from_text(text.as_str().into());
            let line = 1 + line % lines.count();
            let character = 1 + character % (lines.line(line - 1).chars().count() + 1);
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let position = lines.position(line, character, encoding);
                prop_assert_eq!(lines.line_and_character(position, encoding), (line, character));
                let bytes = lines.bytes(&Range { start: Position { line: position.line, character: 0 }, end: position }, encoding);
                prop_assert_eq!(text[bytes].chars().count(), character - 1);
            }
        }
    }
}
