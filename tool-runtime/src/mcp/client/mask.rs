//! Keeping secrets, and what does things to a terminal, out of what servers say.

use super::plain::plain;
use std::cmp::Reverse;

/// Shorter values are words like `1`, `true` or `debug`: no secrets, and all over any text.
const SHORTEST: usize = 6;

/// How much of what a server says is shown, in characters.
const MOST: usize = 2000;

/// Values, and what is shown in their place.
#[derive(Default)]
pub(super) struct Mask(Vec<(String, String)>);

impl Mask {
    /// Knows values by what is shown in their place. Of values that are the same, the first counts.
    pub(super) fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let lines = values.into_iter().flat_map(|(shown, value)| {
            let lines = value.lines().map(|line| (plain(line), shown.clone()));
            lines.collect::<Vec<_>>()
        });
        let mut masked: Vec<_> = lines.filter(|(line, _)| line.len() >= SHORTEST).collect();
        // A value may be a part of another.
        masked.sort_by_key(|(value, _)| Reverse(value.len()));
        Self(masked)
    }

    /// The length of the longest value.
    pub(super) fn longest(&self) -> usize {
        self.0.first().map_or(0, |(value, _)| value.len())
    }

    /// Shows names in the place of values.
    pub(super) fn apply(&self, text: String) -> String {
        self.0.iter().fold(text, |text, (value, name)| {
            if text.contains(value) { text.replace(value, name) } else { text }
        })
    }

    /// The beginning of what a server said, on one line.
    pub(super) fn shown(&self, text: &str) -> String {
        let lines: Vec<String> = text.lines().map(plain).collect();
        let text = self.apply(lines.join(" "));
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}..", &text[..end]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_shown_without_secrets_and_without_harm() {
        let values = [("${KEY}".to_owned(), "s3cret-key".to_owned())];
        let mask = Mask::new(values);
        let said = "bad s3cret-key\n\u{1b}[2Jall is well\u{7}";
        assert_eq!(mask.shown(said), "bad ${KEY} all is well\u{fffd}");
        assert_eq!(mask.shown(&"é".repeat(3000)).chars().count(), MOST + 2);
    }
}
