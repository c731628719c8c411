//! Typographic characters as those of ASCII.

use std::borrow::Cow;

/// The text with quotation marks, dashes, dots and spaces of ASCII.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(folded(text).collect()) }
}

/// The folded text, and for each of its bytes the offset in the original of the character it comes from.
pub(super) fn fold_with_offsets(text: &str) -> (String, Vec<usize>) {
    let mut result = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for (at, character) in text.char_indices() {
        match ascii(character) {
            Some(ascii) => result.0.push_str(ascii),
            None => result.0.push(character),
        }
        result.1.resize(result.0.len(), at);
    }
    result
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
        let (text, offsets) = fold_with_offsets("a…“b”");
        assert_eq!(text, "a...\"b\"");
        assert_eq!(offsets, [0, 1, 1, 1, 4, 7, 8]);
        assert_eq!(fold("a…“b”"), text);
    }
}
