//! Texts that look alike: full-width letters, invisible characters.

use unicode_normalization::UnicodeNormalization as _;

/// The text without invisible characters, in the normal form NFKC. `None` if that is the text itself.
///
/// Letters of other scripts that look alike, such as Cyrillic ones, stay different.
pub(crate) fn folded(text: &str) -> Option<String> {
    if text.bytes().all(|byte| matches!(byte, b'\t' | b'\n' | b' '..=b'~')) {
        return None;
    }
    let folded: String = text.chars().filter(|c| !is_invisible(*c)).nfkc().collect();
    (folded != text).then_some(folded)
}

/// Control characters but for tabs and line feeds; soft hyphens, joiners, marks of direction,
/// variation selectors and tags.
fn is_invisible(c: char) -> bool {
    if c.is_control() {
        return !matches!(c, '\t' | '\n');
    }
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
