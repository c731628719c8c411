//! Shortens text of a server to one printable line.

/// Limit on the characters of a server's text that are shown.
const MAX_SHOWN: usize = 300;

pub(super) fn shown(text: &str) -> String {
    let cleaned: String =
        text.chars().map(|c| if is_safe(c) { c } else { ' ' }).take(4 * MAX_SHOWN).collect();
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches(':');
    let mut shown: String = line.chars().take(MAX_SHOWN).collect();
    if shown.len() < line.len() {
        shown.push_str("..");
    }
    shown
}

/// What turns text round can make it say something else.
fn is_safe(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    );
    !character.is_control() && !turns
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        for (said, expected) in [
            (" no\n such\tpage: ", "no such page"),
            ("\u{1b}[31mred\u{1b}[0m", "[31mred [0m"),
            ("a\u{202e}b\u{9b}c", "a b c"),
        ] {
            assert_eq!(shown(said), expected);
        }
        let long = shown(&"ä".repeat(1_000_000));
        assert_eq!(long.chars().count(), 302);
        assert!(long.ends_with(".."));
    }
}
