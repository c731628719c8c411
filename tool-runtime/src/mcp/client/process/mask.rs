//! Keeping values out of what a child prints.

use super::command::Command;
use super::plain::plain;
use std::cmp::Reverse;

/// Shorter values are words like `1`, `true` or `debug`: no secrets, and all over any text.
const SHORTEST: usize = 6;

/// Values, and what is shown in their place.
pub(super) struct Mask(Vec<(String, String)>);

impl Mask {
    /// Knows every value that `command` gives, by its name: `${TOKEN}`.
    pub(super) fn of(command: &Command) -> Self {
        let values = command.env.iter().chain(&command.secrets);
        let lines = values.flat_map(|(name, value)| {
            value.lines().map(move |line| (plain(line), format!("${{{name}}}")))
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
}
