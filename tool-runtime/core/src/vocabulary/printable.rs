//! Renders foreign strings: nothing in them controls a terminal, is invisible or changes the direction of text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A line without colours; other control characters, and characters that are invisible or change the
/// direction of text, become escapes such as `\u{202e}`. Tabs are kept, a carriage return at the end is removed.
pub fn printable(line: &str) -> String {
    let mut characters = line.strip_suffix('\r').unwrap_or(line).chars();
    let mut printable = String::with_capacity(line.len());
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.as_str().starts_with('[') => {
                characters.next();
                // A sequence ends with its first letter.
                characters.find(|c| matches!(c, '@'..='~'));
            }
            '\t' => printable.push('\t'),
            _ if character.is_control() || is_deceptive(character) => {
                push_escape(&mut printable, character);
            }
            _ => printable.push(character),
        }
    }
    printable
}

/// A name on one line: control characters, and characters that are invisible or change the direction of text, as
/// escapes such as `\n` and `\u{202e}`. Other names stay as they are.
pub fn escaped_name(name: &str) -> Cow<'_, str> {
    escape_if(name, |character| character.is_control() || is_deceptive(character))
}

/// A name in ASCII: all other characters as escapes, so that names that look alike differ.
pub fn ascii_name(name: &str) -> Cow<'_, str> {
    escape_if(name, |character| !matches!(character, ' '..='~'))
}

/// Lines of foreign text for a model: control characters but line ends and tabs, characters that reorder the text around
/// them, and tags, which are invisible letters, as escapes such as `\u{202e}`. Marks that words of some languages
/// need are kept.
pub fn escaped_text(text: &str) -> Cow<'_, str> {
    escape_if(text, |character| match character {
        '\n' | '\r' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control(),
    })
}

fn escape_if(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else { return Cow::Borrowed(text) };
    let mut escaped = text[..first].to_owned();
    for character in text[first..].chars() {
        match is_escaped(character) {
            true => push_escape(&mut escaped, character),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// Appends the escape of a character.
pub(crate) fn push_escape(text: &mut String, character: char) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        _ => drop(write!(text, "\\u{{{:x}}}", u32::from(character))),
    }
}

/// Lines without characters that control a terminal, see [`printable`].
pub fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Text on one printable line of at most `limit` characters, with single spaces between words. A
/// longer one ends with `..`.
pub fn one_line(text: &str, limit: usize) -> String {
    if text.len() <= limit && is_one_line(text) {
        return text.to_owned();
    }
    // Long text is not cleaned to its end.
    let enough = text.char_indices().nth(8 * limit).map_or(text, |(end, _)| &text[..end]);
    let words: Vec<String> = enough.lines().map(printable).collect();
    let line = words.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}

/// Whether a string is printable ASCII with single spaces between words, as most are.
pub(crate) fn is_one_line(text: &str) -> bool {
    let is_single = |pair: &[u8]| pair != b"  ";
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.as_bytes().windows(2).all(is_single)
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

/// Whether a character is invisible or changes the direction of text. The joiners U+200C and U+200D and
/// the variation selectors U+FE00 to U+FE0F are part of words and emoji.
pub(crate) fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // Tags, which spell out text only for machines, and variation selectors that can.
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colours_are_removed() {
        assert_eq!(printable("\u{1b}[1;31merror\u{1b}[0m: no\r"), "error: no");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            printable("10%\r20%\u{7}\tx\u{1b}]0;t"),
            r"10%\r20%\u{7}".to_owned() + "\tx" + r"\u{1b}]0;t"
        );
        assert_eq!(printable("a\u{202e}b\u{200b}c"), r"a\u{202e}b\u{200b}c");
        assert_eq!(printable("a\u{e0041}\u{e0100}\u{3164}"), r"a\u{e0041}\u{e0100}\u{3164}");
    }

    #[test]
    fn names_are_on_one_line_and_text_keeps_its_lines() {
        assert_eq!(escaped_name("r\u{e9}sum\u{e9} (1).txt"), "r\u{e9}sum\u{e9} (1).txt");
        assert_eq!(escaped_name("a\n\u{202e}txt.exe"), r"a\n\u{202e}txt.exe");
        assert_eq!(ascii_name("it\u{2019}s"), r"it\u{2019}s");
        let text = "one\t\u{5d0}\u{200f}\r\ntwo";
        assert_eq!(escaped_text(text), text);
        assert_eq!(escaped_text("a\u{202e}b\u{1b}[2J\u{e0041}"), r"a\u{202e}b\u{1b}[2J\u{e0041}");
    }

    #[test]
    fn lines_are_kept() {
        assert_eq!(printable_lines("a\u{1b}[2J\r\n\n\u{7}b\n"), "a\n\n\\u{7}b");
    }

    #[test]
    fn one_line_is_cut_and_has_single_spaces() {
        for (text, expected) in [
            ("", ""),
            ("no such\r\n  tool\n", "no such tool"),
            ("\u{1b}[2Jcleared", "cleared"),
            ("0123456789abcdef", "0123456789abcde.."),
        ] {
            assert_eq!(one_line(text, 15), expected);
        }
        assert_eq!(one_line(&"é".repeat(1000), 300).chars().count(), 302);
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn nothing_controls_a_terminal(line in "\\PC*|[\u{0}-\u{a0}\\[]*|.*") {
            let text = printable(&line);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\t'), "{text:?}");
            prop_assert!(!one_line(&line, 300).contains(char::is_control), "{text:?}");
            prop_assert!(!escaped_name(&line).contains(char::is_control), "{line:?}");
        }
    }
}
