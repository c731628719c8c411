//! `file_editor`: several commands behind one name.

use super::Files;
use super::change::{Applied, ChangeOutput, EditOperation, decode_text};
use super::commit::{Before, Freshness};
use super::dir_entry::{self, Target};
use super::edit::lf;
use super::list::ListOutput;
use super::read::{ReadOutput, ReadWindow};
use super::text::{LfView, Text};
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{ToolContext, ToolError};

/// A command of `file_editor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum EditorCommand {
    /// Show a file or list a directory.
    View,
    /// Create a file.
    Create,
    /// Replace text that is in the file once.
    StrReplace,
    /// Insert text after a line.
    Insert,
    /// Undo the last change of the file.
    UndoEdit,
}

/// The result of a command: one of the members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EditorOutput {
    /// The lines of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<ReadOutput>,
    /// The entries of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<ListOutput>,
    /// The change of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeOutput>,
}

/// The arguments of commands.
pub(super) struct EditorCall {
    pub(super) command: EditorCommand,
    pub(super) path: String,
    pub(super) file_text: Option<String>,
    pub(super) old_str: Option<String>,
    pub(super) new_str: Option<String>,
    pub(super) insert_line: Option<usize>,
    pub(super) view_range: Option<Vec<i64>>,
}

impl Files {
    pub(super) fn run_editor(
        &self,
        call: EditorCall,
        context: &ToolContext,
    ) -> Result<ToolOutput<EditorOutput>, ToolError> {
        let EditorCall { command, path, file_text, old_str, new_str, insert_line, view_range } =
            call;
        let change = match command {
            EditorCommand::View => return self.view(&path, view_range.as_deref(), context),
            EditorCommand::Create => {
                let text = require("create", "file_text", file_text)?;
                self.create(&path, &text, context)?
            }
            EditorCommand::StrReplace => {
                let old_string = require("str_replace", "old_str", old_str)?;
                let new_string = new_str.unwrap_or_default();
                let edit = EditOperation { old_string, new_string, replace_all: false };
                self.edit_file(&path, &[edit], Freshness::UnchangedIfRead, "old_str", context)?
            }
            EditorCommand::Insert => {
                let line = require("insert", "insert_line", insert_line)?;
                let text = require("insert", "new_str", new_str)?;
                self.insert(&path, line, &text, context)?
            }
            EditorCommand::UndoEdit => self.undo_change(&path, context)?,
        };
        let value = EditorOutput { change: Some(change.value), ..EditorOutput::default() };
        Ok(ToolOutput { blocks: change.blocks, value })
    }

    fn view(
        &self,
        path: &str,
        range: Option<&[i64]>,
        context: &ToolContext,
    ) -> Result<ToolOutput<EditorOutput>, ToolError> {
        if let Target::Directory(_) = dir_entry::find(&self.workspace.resolve(path)?)? {
            let ToolOutput { blocks, value } = self.list(path, 2, context)?;
            let value = EditorOutput { directory: Some(value), ..EditorOutput::default() };
            return Ok(ToolOutput { blocks, value });
        }
        let ToolOutput { blocks, value } = self.read_lines(path, window(range)?, context)?;
        Ok(ToolOutput {
            blocks,
            value: EditorOutput { file: Some(value), ..EditorOutput::default() },
        })
    }

    fn create(
        &self,
        path: &str,
        text: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let before = Before::read(&self.workspace.resolve(path)?)?;
        if before.snapshot().is_some() {
            return Err(ToolError::user(format!(
                "`{path}` exists already; change it by `str_replace`"
            )));
        }
        self.change(before, None, Some(text.to_owned()), Applied::default(), context)
    }

    /// Inserts lines after a line; 0 is the beginning.
    fn insert(
        &self,
        path: &str,
        line: usize,
        new: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let before = self.read_to_change(path, Freshness::UnchangedIfRead, context)?;
        let Some(text) = decode_text(&before)? else {
            return Err(dir_entry::missing(before.location()));
        };
        let content = insert_line(path, &text, line, new)?;
        self.change(before, Some(text), Some(content), Applied::default(), context)
    }
}

fn require<T>(command: &str, name: &str, value: Option<T>) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError::user(format!("`{command}` needs `{name}`")))
}

/// First and last line, the latter -1 for the end of the file.
fn window(range: Option<&[i64]>) -> Result<ReadWindow, ToolError> {
    match range {
        None => Ok(ReadWindow::new(None, None)),
        Some([first, -1]) if *first > 0 => Ok(ReadWindow::new(Some(*first), None)),
        Some([first, last]) if *first > 0 && last >= first => {
            let lines = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
            Ok(ReadWindow::new(Some(*first), Some(lines)))
        }
        Some(_) => Err(ToolError::user(
            "`view_range` must be the first and the last line, counted from 1, or -1 for the end",
        )),
    }
}

fn insert_line(path: &str, text: &Text, line: usize, new: &str) -> Result<String, ToolError> {
    let view = LfView::from_raw(&text.content);
    let ends = memchr::memchr_iter(b'\n', view.text.as_bytes()).map(|end| end + 1);
    let mut starts = std::iter::once(0).chain(ends);
    let total = view.text.lines().count();
    if line > total {
        return Err(ToolError::user(format!(
            "`{path}` has {total} lines; `insert_line` must be between 0 and {total}"
        )));
    }
    let (at, gap) = match starts.nth(line) {
        Some(at) => (at, ""),
        // The last line has no newline.
        None => (view.text.len(), "\n"),
    };
    let mut new = format!("{gap}{}", lf(new));
    if gap.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    let (head, tail) = text.content.split_at(view.raw_offset(at));
    Ok(format!("{head}{}{tail}", view.with_newlines(&new, at.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_inserted_with_the_endings_of_the_file() {
        let insert = |content: &str, line| {
            insert_line("a", &Text::new(content), line, "x")
                .map_err(|error| error.message().to_owned())
        };
        assert_eq!(insert("a\r\nb\r\n", 0).unwrap(), "x\r\na\r\nb\r\n");
        assert_eq!(insert("a\r\nb\r\n", 1).unwrap(), "a\r\nx\r\nb\r\n");
        assert_eq!(insert("a\nb\r\n", 1).unwrap(), "a\nx\nb\r\n");
        assert_eq!(insert("a\nb\r\n", 2).unwrap(), "a\nb\r\nx\r\n");
        assert_eq!(insert("a\nb", 2).unwrap(), "a\nb\nx");
        assert_eq!(insert("", 0).unwrap(), "x\n");
        let error = insert("a\n", 2).unwrap_err();
        assert_eq!(error, "`a` has 1 lines; `insert_line` must be between 0 and 1");
    }
}
