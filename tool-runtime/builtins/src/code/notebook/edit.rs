//! Changes of one cell in the text of a notebook. All other text stays as it is.

use super::cell::{Cell, CellType};
use super::entries::{Entries, range_in};
use super::layout::Layout;
use super::{CellPosition, NotebookCommand};
use crate::files::joined_lines;
use serde_json::Value;
use serde_json::value::RawValue;
use tool_runtime::ToolError;

/// A change of one cell.
pub(super) struct CellEdit {
    pub(super) command: NotebookCommand,
    pub(super) position: CellPosition,
    pub(super) cell_type: Option<CellType>,
    pub(super) source: Option<String>,
}

/// The notebook after a change.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) text: String,
    /// The id of the cell that was changed or deleted.
    pub(super) number: usize,
    pub(super) id: Option<String>,
    pub(super) cell_type: Option<CellType>,
    /// Cells of the notebook now.
    pub(super) count: usize,
}

/// A notebook as it is in its file.
struct Notebook<'t> {
    text: &'t str,
    /// The array of cells.
    array: &'t str,
    cells: Vec<&'t str>,
    has_ids: bool,
    layout: Layout<'t>,
}

/// Changes a cell.
///
/// # Errors
/// The text is not a notebook, the cell does not exist, or nothing would change.
pub(super) fn apply(text: &str, edit: &CellEdit) -> Result<Edited, ToolError> {
    let notebook = Notebook::parse(text)?;
    match edit.command {
        NotebookCommand::Insert => notebook.insert(edit),
        NotebookCommand::Replace => notebook.replace(edit),
        NotebookCommand::Delete => notebook.delete(edit),
    }
}

impl<'t> Notebook<'t> {
    fn parse(text: &'t str) -> Result<Self, ToolError> {
        let invalid =
            |reason: String| ToolError::user(format!("the file is not a valid notebook: {reason}"));
        let entries = Entries::parse(text).map_err(|error| invalid(error.to_string()))?;
        let Some(array) = entries.raw("cells") else {
            let old = entries.raw("worksheets").map_or("", |_| {
                ", since its format is older than nbformat 4; convert it by `jupyter nbconvert --to notebook`"
            });
            return Err(invalid(format!("the key `cells` is missing{old}")));
        };
        let cells: Vec<&RawValue> = serde_json::from_str(array)
            .map_err(|_| invalid("`cells` is not an array".to_owned()))?;
        let cells: Vec<&str> = cells.into_iter().map(RawValue::get).collect();
        let version = |key| entries.value::<u64>(key).unwrap_or(0);
        let has_ids = (version("nbformat"), version("nbformat_minor")) >= (4, 5);
        let layout = Layout::from_text(text, &entries, &cells);
        Ok(Self { text, array, cells, has_ids, layout })
    }

    fn insert(&self, edit: &CellEdit) -> Result<Edited, ToolError> {
        let number = match &edit.position {
            CellPosition::Id(_) => self.find(&edit.position)? + 1,
            CellPosition::Number(number) if *number <= self.cells.len() => *number,
            CellPosition::Number(number) => return Err(self.out_of_range(*number)),
        };
        let source = edit.source.as_deref().ok_or_else(|| missing_source("insert"))?;
        let cell_type = edit.cell_type.unwrap_or(CellType::Code);
        let id = self.has_ids.then(|| self.new_id());
        let mut cell = Cell::new(cell_type, id.as_deref());
        cell.set_source(source, self.has_string_sources(), &self.layout);
        let cell = cell.render(&self.layout);
        let text = self.splice(number, 0, Some(&cell));
        let count = self.cells.len() + 1;
        Ok(Edited { text, number, id, cell_type: Some(cell_type), count })
    }

    fn replace(&self, edit: &CellEdit) -> Result<Edited, ToolError> {
        let number = self.find(&edit.position)?;
        let entries = self.entries(number)?;
        let old_type = entries.value::<CellType>("cell_type");
        let old_source = entries.value::<Value>("source").unwrap_or_default();
        let new_type = edit.cell_type.filter(|cell_type| Some(*cell_type) != old_type);
        let new_source =
            edit.source.as_ref().filter(|source| **source != joined_lines(&old_source));
        let mut cell = Cell::from_entries(&entries);
        match (new_type, new_source) {
            (None, None) if edit.source.is_none() && edit.cell_type.is_none() => {
                return Err(missing_source("replace"));
            }
            (None, None) => {
                return Err(ToolError::user(format!(
                    "cell {number} has this source and type already; nothing would change"
                )));
            }
            (Some(cell_type), _) => cell.set_type(cell_type),
            (None, Some(_)) if old_type == Some(CellType::Code) => cell.clear_outputs(),
            (None, Some(_)) => {}
        }
        if let Some(source) = new_source {
            cell.set_source(source, old_source.is_string(), &self.layout);
        }
        let text = self.splice(number, 1, Some(&cell.render(&self.layout)));
        let id = entries.value("id");
        Ok(Edited { text, number, id, cell_type: new_type.or(old_type), count: self.cells.len() })
    }

    fn delete(&self, edit: &CellEdit) -> Result<Edited, ToolError> {
        let number = self.find(&edit.position)?;
        let entries = self.entries(number)?;
        let (id, cell_type) = (entries.value("id"), entries.value("cell_type"));
        let text = self.splice(number, 1, None);
        Ok(Edited { text, number, id, cell_type, count: self.cells.len() - 1 })
    }

    /// The text with cells removed from a position, and a new one inserted there.
    fn splice(&self, number: usize, removed: usize, cell: Option<&str>) -> String {
        let start = |number: usize| range_in(self.text, self.cells[number]).start;
        let end = |number: usize| range_in(self.text, self.cells[number]).end;
        let (count, layout) = (self.cells.len(), &self.layout);
        let separator =
            layout.cell.as_ref().map_or(layout.comma.to_owned(), |cell| format!(",{cell}"));
        let (range, new) = match (cell, removed) {
            (Some(cell), 1) => (start(number)..end(number), cell.to_owned()),
            (Some(cell), _) if count == 0 => {
                let [before, after] =
                    [&layout.cell, &layout.end].map(|line| line.as_deref().unwrap_or(""));
                (range_in(self.text, self.array), format!("[{before}{cell}{after}]"))
            }
            (Some(cell), _) if number == count => {
                (end(count - 1)..end(count - 1), format!("{separator}{cell}"))
            }
            (Some(cell), _) => (start(number)..start(number), format!("{cell}{separator}")),
            (None, _) if count == 1 => (range_in(self.text, self.array), "[]".to_owned()),
            (None, _) if number + 1 == count => (end(number - 1)..end(number), String::new()),
            (None, _) => (start(number)..start(number + 1), String::new()),
        };
        format!("{}{new}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// The number of the cell that is meant.
    fn find(&self, position: &CellPosition) -> Result<usize, ToolError> {
        let id = match position {
            CellPosition::Number(number) if *number < self.cells.len() => return Ok(*number),
            CellPosition::Number(number) => return Err(self.out_of_range(*number)),
            CellPosition::Id(id) => id,
        };
        let ids = self.ids();
        let mut found = ids.iter().enumerate().filter(|(_, own)| own.as_ref() == Some(id));
        match (found.next(), found.next()) {
            (Some((number, _)), None) => Ok(number),
            (Some(_), Some(_)) => Err(ToolError::user(format!(
                "`{id}` is the id of several cells; give `cell_number` instead"
            ))),
            (None, _) => Err(ToolError::user(format!(
                "the notebook has no cell with the id `{id}`; read it again, or give `cell_number`"
            ))),
        }
    }

    fn out_of_range(&self, number: usize) -> ToolError {
        let count = self.cells.len();
        ToolError::user(format!(
            "the notebook has {count} cells, counted from 0; there is no position {number}"
        ))
    }

    fn entries(&self, number: usize) -> Result<Entries<'t>, ToolError> {
        Entries::parse(self.cells[number])
            .map_err(|error| ToolError::user(format!("cell {number} is not a valid cell: {error}")))
    }

    fn ids(&self) -> Vec<Option<String>> {
        let id = |cell: &&str| Entries::parse(cell).ok()?.value("id");
        self.cells.iter().map(id).collect()
    }

    /// An id that no cell of the notebook has.
    fn new_id(&self) -> String {
        let ids = self.ids();
        loop {
            let id = crate::random::hex(8);
            if !ids.contains(&Some(id.clone())) {
                return id;
            }
        }
    }

    /// Whether the cells have sources of one string.
    fn has_string_sources(&self) -> bool {
        let source = |cell: &str| Entries::parse(cell).ok()?.value::<Value>("source");
        self.cells.iter().find_map(|cell| source(cell)).is_some_and(|source| source.is_string())
    }
}

fn missing_source(command: &str) -> ToolError {
    ToolError::user(format!("`source` is missing; `{command}` needs the new source of the cell"))
}
