//! Changes of Jupyter notebooks, cell by cell.

mod cell;
mod edit;
mod entries;
mod layout;
#[cfg(test)]
mod tests;

pub use cell::CellType;

use crate::builtins::{Family, Profile};
use crate::files::rewrite;
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use edit::CellEdit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::prelude::*;

/// A change of a notebook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotebookCommand {
    /// A new cell.
    Insert,
    /// A new source or type of a cell.
    #[default]
    Replace,
    /// Removes a cell.
    Delete,
}

/// A changed notebook.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct NotebookOutput {
    /// Path of the notebook.
    pub path: String,
    /// The change.
    pub command: NotebookCommand,
    /// Number of the cell, counted from 0.
    pub cell_number: usize,
    /// Id of the cell, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<String>,
    /// Type of the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_type: Option<CellType>,
    /// Number of cells now.
    pub cells: usize,
    /// The change as a unified diff of the file.
    pub diff: String,
    /// SHA-256 of the file now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The cell that a change is about.
enum CellPosition {
    Id(String),
    Number(usize),
}

/// The tool that changes notebooks. See [`Builtins::code`](crate::Builtins::code).
///
/// Text outside the changed cell stays byte for byte. In the cell, keys that the change is not about keep their
/// values. A new source of a code cell clears its outputs and its execution count, which would be those of other code.
pub struct Notebooks {
    workspace: Workspace,
}

#[toolset(prefix = "", open_world = false, timeout = "60s", register = false)]
impl Notebooks {
    /// Insert, replace or delete one cell of a Jupyter notebook that was read.
    ///
    /// Name the cell by `cell_id` or by `cell_number`. `insert` puts the new cell after the cell with `cell_id`, or at
    /// `cell_number`. `replace` sets the source, the type, or both; a new source clears the outputs of a code cell.
    #[tool(
        name = "NotebookEdit",
        destructive,
        idempotent = false,
        read_only = false,
        tags("advanced", "edit"),
        writes("file:{file_path}")
    )]
    #[allow(clippy::too_many_arguments, reason = "the arguments of all commands")]
    fn notebook_edit(
        &self,
        /// Path of the notebook.
        #[arg(match_as = "path", length = 1..=4096, alias = "notebook_path")]
        file_path: String,
        /// The change.
        #[arg(default = NotebookCommand::Replace, alias = "edit_mode")]
        command: NotebookCommand,
        /// Id of the cell, as `Read` shows it.
        cell_id: Option<String>,
        /// Number of the cell, counted from 0. For `insert` the number of the new cell.
        #[arg(alias("index", "cell_index"))]
        cell_number: Option<usize>,
        /// Type of the cell. Default: that of the cell; `code` for a new one.
        cell_type: Option<CellType>,
        /// The whole new source of the cell.
        #[arg(alias = "new_source")]
        source: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<NotebookOutput>, ToolError> {
        let position = match (cell_id, cell_number) {
            (Some(id), None) => CellPosition::Id(id),
            (None, Some(number)) => CellPosition::Number(number),
            _ => return Err(ToolError::user("give either `cell_id` or `cell_number`")),
        };
        let edit = CellEdit { command, position, cell_type, source };
        let change = |text: &str| {
            let mut edited = edit::apply(text, &edit)?;
            Ok((std::mem::take(&mut edited.text), edited))
        };
        let (changed, edited) = rewrite(&self.workspace, &file_path, context, change)
            .map_err(|error| ToolError::user(with_path(&file_path, error.message())))?;
        Ok(ToolOutput {
            blocks: changed.blocks,
            value: NotebookOutput {
                path: changed.value.path,
                command,
                cell_number: edited.number,
                cell_id: edited.id,
                cell_type: edited.cell_type,
                cells: edited.count,
                diff: changed.value.diff,
                sha256: changed.value.sha256,
            },
        })
    }
}

/// An error with the file that it is about.
fn with_path(path: &str, message: &str) -> String {
    if message.starts_with('`') { message.to_owned() } else { format!("`{path}`: {message}") }
}

impl Toolset for Notebooks {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::from_context(context)?))
    }
}

impl Notebooks {
    pub(crate) fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Family for Notebooks {
    fn tools_of(_: Profile) -> &'static [&'static str] {
        &["NotebookEdit"]
    }
}
