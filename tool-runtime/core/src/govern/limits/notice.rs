//! Notices instead of removed content.

use super::spill::Spill;
use std::fmt;
use std::path::Path;

/// One line instead of the removed middle of a string.
pub(super) struct Notice<'a> {
    pub(super) characters: usize,
    pub(super) lines: usize,
    pub(super) limit: usize,
    pub(super) file: Option<&'a Path>,
    pub(super) from: Start,
}

/// The start of the removed text, counted from one.
#[derive(Clone, Copy)]
pub(super) enum Start {
    Line(usize),
    /// For a string that is one line.
    Character(usize),
}

impl Notice<'_> {
    /// In characters.
    pub(super) fn length(&self) -> usize {
        self.to_string().chars().count()
    }

    /// The maximal length of a notice, with or without a file.
    pub(super) fn longest(limit: usize, spill: &Spill<'_>) -> usize {
        let file = spill.sample_path("txt");
        let from = Start::Character(usize::MAX);
        let longest =
            |file| Notice { characters: usize::MAX, lines: usize::MAX, limit, file, from }.length();
        longest(file.as_deref()).max(longest(None))
    }
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (characters, lines) =
            (pluralize(self.characters, "character"), pluralize(self.lines, "line"));
        write!(f, "[cut here: {characters} ({lines}); ")?;
        match (self.file, self.from) {
            (None, _) => write!(f, "at most {} are passed on, ask for less]", self.limit),
            (Some(file), Start::Line(line)) => {
                write!(f, "the whole text is in `{}`, read on from line {line}]", file.display())
            }
            (Some(file), Start::Character(at)) => {
                write!(f, "the whole text is in `{}`, read on from character {at}]", file.display())
            }
        }
    }
}

/// One line instead of a block that is not text.
pub(super) fn left_out(what: &str, bytes: usize, limit: usize, file: Option<&Path>) -> String {
    let bytes = pluralize(bytes, "byte");
    match file {
        Some(file) => format!("[left out: {what}, {bytes}; it is in `{}`]", file.display()),
        None => format!(
            "[left out: {what}, {bytes}; at most {limit} are passed on, ask for something smaller]"
        ),
    }
}

fn pluralize(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
