//! Excerpts of client text in messages, and lists of names.

use std::borrow::Cow;
use std::fmt;

/// Limit on the characters of a client's text that are quoted.
const MAX_EXCERPT: usize = 200;

/// The text for a response or the log: a long one is cut, with a note of how much is
/// missing. A name or URI may be as long as a message.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    excerpt_of(text, MAX_EXCERPT)
}

/// Shortens a string like [`excerpt`], with another limit.
pub fn excerpt_of(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => {
            let (head, rest) = text.split_at(end);
            Cow::Owned(format!("{head}… ({} more bytes)", rest.len()))
        }
        None => Cow::Borrowed(text),
    }
}

/// Names for a message, each as code; `none` if there is none.
pub fn listed(names: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
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
