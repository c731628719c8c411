//! The text of one cell.

use super::entries::Entries;
use super::layout::Layout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The type of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    /// Code, with outputs.
    Code,
    /// Text in Markdown.
    Markdown,
    /// Text that is not rendered.
    Raw,
}

impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        })
    }
}

/// The keys of a cell with their values as JSON.
pub(super) struct Cell(Vec<(String, String)>);

impl Cell {
    /// A cell as it is in the file.
    pub(super) fn from_entries(entries: &Entries<'_>) -> Self {
        let owned = |(key, value): &(String, &serde_json::value::RawValue)| {
            (key.clone(), value.get().to_owned())
        };
        Self(entries.0.iter().map(owned).collect())
    }

    /// A new cell without source.
    pub(super) fn new(cell_type: CellType, id: Option<&str>) -> Self {
        let mut cell = Self(Vec::new());
        cell.set("metadata", "{}".to_owned());
        if let Some(id) = id {
            cell.set("id", Value::from(id).to_string());
        }
        cell.set_type(cell_type);
        cell
    }

    /// Makes the cell one of a type: it has the keys that this type needs, and none that are not valid in it.
    pub(super) fn set_type(&mut self, cell_type: CellType) {
        self.set("cell_type", Value::from(cell_type.to_string()).to_string());
        if cell_type == CellType::Code {
            self.0.retain(|(key, _)| key != "attachments");
            self.clear_outputs();
        } else {
            self.0.retain(|(key, _)| key != "outputs" && key != "execution_count");
        }
    }

    /// Removes the results of a former source.
    pub(super) fn clear_outputs(&mut self) {
        self.set("execution_count", "null".to_owned());
        self.set("outputs", "[]".to_owned());
    }

    /// Sets the source: one string, or one for each line.
    pub(super) fn set_source(&mut self, source: &str, is_string: bool, layout: &Layout<'_>) {
        let text = if is_string { Value::from(source).to_string() } else { lines(source, layout) };
        self.set("source", text);
    }

    /// Replaces a value. A new key goes where the order of the alphabet has it, in which Jupyter writes keys.
    fn set(&mut self, key: &str, text: String) {
        if let Some((_, value)) = self.0.iter_mut().find(|(name, _)| name == key) {
            *value = text;
            return;
        }
        let at = self.0.iter().position(|(name, _)| name.as_str() > key).unwrap_or(self.0.len());
        self.0.insert(at, (key.to_owned(), text));
    }

    /// The text of the cell.
    pub(super) fn render(&self, layout: &Layout<'_>) -> String {
        let entry = |(key, value): &(String, String)| {
            format!("{}{}{value}", Value::from(key.as_str()), layout.colon)
        };
        let entries: Vec<String> = self.0.iter().map(entry).collect();
        bracketed(["{", "}"], &entries, [&layout.key, &layout.cell], layout.comma)
    }
}

/// The lines of a source as JSON, each but the last with its line ending.
fn lines(source: &str, layout: &Layout<'_>) -> String {
    let lines = source.split_inclusive('\n').map(|line| Value::from(line).to_string());
    let lines: Vec<String> = lines.collect();
    bracketed(["[", "]"], &lines, [&layout.line, &layout.key], layout.comma)
}

fn bracketed(
    [open, close]: [&str; 2],
    parts: &[String],
    [inner, outer]: [&Option<String>; 2],
    comma: &str,
) -> String {
    match (inner, outer) {
        _ if parts.is_empty() => format!("{open}{close}"),
        (Some(inner), Some(outer)) => {
            let parts = parts.join(&format!(",{inner}"));
            format!("{open}{inner}{parts}{outer}{close}")
        }
        _ => format!("{open}{}{close}", parts.join(comma)),
    }
}
