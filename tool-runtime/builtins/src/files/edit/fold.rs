//! Typographic characters as those of ASCII.

use std::borrow::Cow;
use tool_runtime::__seam::{ascii_character, ascii_characters};

/// The text with quotation marks, dashes, dots and spaces of ASCII.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(ascii_characters(text).collect()) }
}

/// For each byte of the folded text the offset in the original of the character it comes from.
pub(super) fn offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let length = ascii_character(character).map_or(character.len_utf8(), str::len);
        offsets.resize(offsets.len() + length, at);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_the_original() {
        assert_eq!(fold("a…“b”"), "a...\"b\"");
        assert_eq!(offsets("a…“b”"), [0, 1, 1, 1, 4, 7, 8]);
    }
}
