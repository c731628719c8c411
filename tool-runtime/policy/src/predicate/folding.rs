//! Strings that look alike: full-width letters, invisible characters.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// The largest text that is folded, in bytes. It takes some 10 ms.
const MAX_FOLDED: usize = 256 << 10;

/// The strings of a call that were folded, by their addresses: the rules of a policy look at the same ones, which the call
/// keeps. Not for strings that may be dropped before.
#[derive(Debug, Default)]
pub(crate) struct FoldedTexts(RefCell<Vec<(Range<*const u8>, Rc<Folded>)>>);

impl FoldedTexts {
    pub(crate) fn for_text(&self, text: &str) -> Rc<Folded> {
        let range = text.as_bytes().as_ptr_range();
        let known =
            self.0.borrow().iter().find(|(of, _)| *of == range).map(|(_, it)| Rc::clone(it));
        known.unwrap_or_else(|| {
            let folded = Rc::new(folded(text));
            self.0.borrow_mut().push((range, Rc::clone(&folded)));
            folded
        })
    }
}

/// The form in which a string may be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// The text itself.
    Same,
    Other(String),
    /// The text is too large to be folded, and may differ.
    TooLarge,
}

/// The text without invisible characters, in the normal form NFKC.
///
/// Letters of other scripts that look alike, such as Cyrillic ones, stay different.
pub(crate) fn folded(text: &str) -> Folded {
    let is_plain = |byte| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if text.bytes().all(is_plain) {
        return Folded::Same;
    }
    if text.len() > MAX_FOLDED {
        // Others neither change nor move marks before them.
        let special = || text.chars().filter(|c| !c.is_ascii() || c.is_control());
        let is_same = !special().any(is_invisible)
            && is_nfkc_quick(special().filter(|c| !c.is_ascii())) == IsNormalized::Yes;
        return if is_same { Folded::Same } else { Folded::TooLarge };
    }
    let folded: String = text.chars().filter(|c| !is_invisible(*c)).nfkc().collect();
    match folded == text {
        true => Folded::Same,
        false => Folded::Other(folded),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_text_is_folded_only_if_that_changes_nothing() {
        assert_eq!(folded(&"ordinary text\n".repeat(400_000)), Folded::Same);
        assert_eq!(folded(&"größere Änderung ".repeat(300_000)), Folded::Same);
        for text in ["ｒｍ", "r\u{200b}m", "gro\u{308}ße", "ﬁ"] {
            assert!(matches!(folded(text), Folded::Other(_)), "{text}");
            assert_eq!(folded(&text.repeat(100_000)), Folded::TooLarge, "{text}");
        }
    }
}
