//! Removes terminal control sequences from foreign text.

/// Colours are left out, other control characters are replaced, and so is what turns the
/// direction of a text around.
pub(super) fn plain(line: &str) -> String {
    let mut characters = line.strip_suffix('\r').unwrap_or(line).chars();
    let mut plain = String::with_capacity(line.len());
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' if characters.as_str().starts_with('[') => {
                characters.next();
                // A sequence ends with its first letter.
                characters.find(|c| matches!(c, '@'..='~'));
            }
            '\t' => plain.push('\t'),
            _ if character.is_control() || turns_around(character) => plain.push('\u{fffd}'),
            _ => plain.push(character),
        }
    }
    plain
}

fn turns_around(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[1;31merror\u{1b}[0m: no\r"), "error: no");
    }

    #[test]
    fn what_moves_a_cursor_is_shown_as_something() {
        assert_eq!(plain("10%\r20%\u{7}\tx\u{1b}]0;t"), "10%\u{fffd}20%\u{fffd}\tx\u{fffd}]0;t");
        assert_eq!(plain("a\u{202e}b"), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn nothing_controls_a_terminal(line in "\\PC*|[\u{0}-\u{a0}\\[]*|.*") {
            let text = plain(&line);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\t'), "{text:?}");
        }
    }
}
