//! Excerpts of client text in messages.

use std::borrow::Cow;

/// Limit on the characters of a client's text that are quoted.
const MAX_EXCERPT: usize = 200;

/// The text for an answer or the log: a long one is cut, with a note of how much is
/// missing. A name or URI may be as long as a message.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    excerpt_of(text, MAX_EXCERPT)
}

/// Shortens a text like [`excerpt`], with another limit.
pub fn excerpt_of(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => {
            let (head, rest) = text.split_at(end);
            Cow::Owned(format!("{head}… ({} more bytes)", rest.len()))
        }
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "ä".repeat(MAX_EXCERPT);
        assert_eq!(excerpt(&text), text);
        assert_eq!(excerpt(&format!("{text}öx")), format!("{text}… (3 more bytes)"));
    }
}
