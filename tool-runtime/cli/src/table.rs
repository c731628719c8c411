//! Aligned text tables.

use std::io::{self, IsTerminal as _};
use tool_runtime_core::seam::one_line;

/// Limit on the characters of a cell.
const MAX_CELL: usize = 120;

/// The widest column: longer cells do not move those of other rows.
const MAX_WIDTH: usize = 64;

/// Text of a server or tool on one printable line.
pub(super) fn cell(text: &str) -> String {
    one_line(text, MAX_CELL)
}

/// Columns as wide as their widest cell, up to a limit; the last one ends where its text ends.
pub(super) fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> Vec<String> {
    let rows: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| row.each_ref().map(|text| cell(text))).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS).map(|column| width(column).min(MAX_WIDTH)).collect();
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Columns within a width: the last one is cut, and the others at a third of it each.
pub(super) fn within<const COLUMNS: usize>(
    rows: &[[String; COLUMNS]],
    width: usize,
) -> Vec<String> {
    let most = (width / 3).max(8);
    let shortened = rows.iter().map(|row| {
        let mut row = row.each_ref().map(|text| cell(text));
        for text in row.iter_mut().take(COLUMNS - 1) {
            *text = cut(text, most);
        }
        row
    });
    let rows: Vec<[String; COLUMNS]> = shortened.collect();
    aligned(&rows).iter().map(|line| cut(line, width)).collect()
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(2)).chain("..".chars()).collect(),
        false => text.to_owned(),
    }
}

/// Columns of the terminal, 80 if it does not say. `None` if standard output is no terminal.
pub(super) fn terminal_width() -> Option<usize> {
    const DEFAULT: usize = 80;
    if !io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
    {
        return Some(usize::from(size.ws_col));
    }
    Some(DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_cell_does_not_move_those_of_other_rows() {
        let rows = [["a", "b"].map(str::to_owned), ["x".repeat(100), "c".to_owned()]];
        let lines = aligned(&rows);
        assert_eq!(lines[0].chars().count(), MAX_WIDTH + 3);
        assert!(lines[1].ends_with("xx  c"), "{lines:?}");
    }

    #[test]
    fn a_table_fits_its_width() {
        let rows = [["name".repeat(20), "hint".to_owned(), "text ".repeat(30)]];
        let [line] = &*within(&rows, 80) else { panic!("one row") };
        assert_eq!(line.chars().count(), 80);
        assert!(line.contains("..  hint  text") && line.ends_with(".."), "{line}");
    }

    #[test]
    fn foreign_text_fits_its_cell() {
        let long = "x".repeat(100_000);
        let rows = [[long.as_str(), "\u{1b}[2J\nall is well"].map(str::to_owned)];
        let [line] = &*aligned(&rows) else { panic!("one row") };
        assert!(line.chars().count() < 200 && !line.contains(char::is_control), "{line}");
    }
}
