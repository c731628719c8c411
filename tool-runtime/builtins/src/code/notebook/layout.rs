//! The white space of a notebook's file.

use super::entries::{Entries, range_in};

/// The white space by which new parts look like the rest of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout<'t> {
    /// Line ending and indentation of a cell. `None` if all is on one line.
    pub(super) cell: Option<String>,
    /// Line ending and indentation of a cell's keys.
    pub(super) key: Option<String>,
    /// Line ending and indentation of the lines of a source.
    pub(super) line: Option<String>,
    /// Line ending and indentation of the end of the cells.
    pub(super) end: Option<String>,
    /// Between key and value.
    pub(super) colon: &'t str,
    /// Between values that are on one line.
    pub(super) comma: &'t str,
}

impl<'t> Layout<'t> {
    /// The layout of a notebook: its text, its keys, its cells.
    pub(super) fn from_text(text: &'t str, notebook: &Entries<'t>, cells: &[&'t str]) -> Self {
        let first = notebook.0.first().map(|(_, value)| range_in(text, value.get()).start);
        let colon = if first.is_some_and(|at| text[..at].ends_with([' ', '\n', '\t'])) {
            ": "
        } else {
            ":"
        };
        let comma = if colon == ":" { "," } else { ", " };
        let top = after(text, 0, '{');
        if !top.contains('\n') {
            return Self { cell: None, key: None, line: None, end: None, colon, comma };
        }
        let unit = last_line(top);
        let found = cells.first().and_then(|cell| {
            let at = range_in(text, cell).start;
            let before = &text[..at];
            let space = &before[before.trim_end().len()..];
            space.contains('\n').then(|| (last_line(space), last_line(after(cell, 0, '{'))))
        });
        let (cell, key) = found.unwrap_or(("", ""));
        let cell = if cell.is_empty() { unit.repeat(2) } else { cell.to_owned() };
        let key = if key.is_empty() { format!("{cell}{unit}") } else { key.to_owned() };
        let line = |indent: &str| Some(format!("{}{indent}", eol(top)));
        Self {
            line: line(&format!("{key}{unit}")),
            cell: line(&cell),
            key: line(&key),
            end: line(unit),
            colon,
            comma,
        }
    }
}

/// The line ending that a string begins with.
fn eol(text: &str) -> &'static str {
    if text.starts_with("\r\n") { "\r\n" } else { "\n" }
}

/// The white space after a bracket, which is the first one of the text.
fn after(text: &str, from: usize, bracket: char) -> &str {
    let rest = text[from..].trim_start().strip_prefix(bracket).unwrap_or("");
    &rest[..rest.len() - rest.trim_start().len()]
}

/// White space after the last line ending.
fn last_line(space: &str) -> &str {
    space.rfind('\n').map_or("", |at| &space[at + 1..])
}
