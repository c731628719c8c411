//! Typographic characters as those of ASCII.

use std::borrow::Cow;

/// The text with quotation marks, dashes, dots and spaces of ASCII.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(folded(text).collect()) }
}

/// For each byte of the folded text the offset in the original of the character it comes from.
pub(super) fn offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let length = ascii(character).map_or(character.len_utf8(), str::len);
        offsets.resize(offsets.len() + length, at);
    }
    offsets
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(|character| {
        let ascii = ascii(character);
        ascii.unwrap_or_default().chars().chain(ascii.is_none().then_some(character))
    })
}

fn ascii(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => "'",
        '\u{201C}'..='\u{201F}' | '\u{2033}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => " ",
        '\u{200B}' | '\u{2060}' | '\u{FEFF}' => "",
        _ => return None,
    })
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
