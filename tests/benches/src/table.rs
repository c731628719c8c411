//! Text tables with aligned columns: the first to the left, the others to the right.

use std::fmt;

/// A table for `Display`.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns.
    pub fn new(columns: &[&str]) -> Self {
        let columns = columns.iter().map(|column| (*column).to_owned());
        Self { rows: vec![columns.collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let width = self.width(column);
                match column {
                    0 => write!(f, "{cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Formats nanoseconds in a readable unit.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 10_000.0 => format!("{n:.0} ns"),
        n if n < 10_000_000.0 => format!("{:.1} us", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

/// Formats a ratio.
pub fn ratio(ratio: f64) -> String {
    if ratio < 100.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") }
}
