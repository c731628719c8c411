//! Strings that look alike: composed and decomposed letters, typographic characters and those of ASCII.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization as _;

/// The form that a name shares with those that look like it: composed letters (NFC), and the spaces, quotation marks,
/// dashes and dots of ASCII. macOS decomposes letters, and writes narrow spaces and curly quotation marks in names.
pub fn look_alike(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(ascii_characters(name).nfc().collect())
}

/// The characters of a string, those of typography in ASCII.
pub fn ascii_characters(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(|character| {
        let ascii = ascii_character(character);
        ascii.unwrap_or_default().chars().chain(ascii.is_none().then_some(character))
    })
}

/// What a typographic character is in ASCII. Spaces without width are nothing.
pub fn ascii_character(character: char) -> Option<&'static str> {
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
    fn names_of_macos_look_like_those_that_are_typed() {
        for (written, typed) in [
            ("cafe\u{301}.txt", "café.txt"),
            ("Screenshot 3.04.05\u{202f}PM.png", "Screenshot 3.04.05 PM.png"),
            ("it\u{2019}s \u{201c}it\u{201d}\u{a0}\u{2026}", "it's \"it\" ..."),
        ] {
            assert_eq!(look_alike(written), look_alike(typed));
        }
        assert_ne!(look_alike("cafe"), look_alike("café"));
    }
}
