//! The changes of a rename, as a diff.

use super::error::LspError;
use super::position::Encoding;
use super::source_files::{File, SourceFiles};
use crate::files::unified_diff;
use gen_lsp_types::{DocumentChange, Edit, Range, WorkspaceEdit};
use std::collections::BTreeMap;

/// Characters of the whole diff.
const MAX_DIFF: usize = 60_000;

/// A rename that was not made.
#[derive(Debug, Default)]
pub(super) struct Preview {
    pub(super) diff: String,
    /// The number of edits.
    pub(super) count: usize,
    pub(super) notices: Vec<String>,
}

/// Edits of one file: ranges and new content.
type Edits = Vec<(Range, String)>;

/// The diff of all changes.
///
/// # Errors
/// The changes of a file overlap.
pub(super) fn preview(
    edit: WorkspaceEdit,
    files: &mut SourceFiles<'_>,
    encoding: Encoding,
) -> Result<Preview, LspError> {
    let mut preview = Preview::default();
    for (uri, edits) in edits_of(edit, &mut preview.notices) {
        let file = files.file(&uri);
        preview.count += edits.len();
        match apply_edits(&file, edits, encoding)? {
            None => preview.notices.push(format!(
                "`{}` would be changed, too; its changes cannot be shown",
                file.path
            )),
            Some(_) if preview.diff.len() > MAX_DIFF => {
                preview.notices.push(format!("the changes of `{}` are not shown", file.path));
            }
            Some(text) => {
                preview.diff += &unified_diff(&file.path, file.text.as_deref(), Some(&text));
            }
        }
    }
    Ok(preview)
}

/// The edits by file. Files that would be created, renamed or deleted become notices.
fn edits_of(edit: WorkspaceEdit, notices: &mut Vec<String>) -> BTreeMap<String, Edits> {
    let mut files: BTreeMap<String, Edits> = BTreeMap::new();
    for (uri, edits) in edit.changes.into_iter().flatten() {
        files
            .entry(uri.0)
            .or_default()
            .extend(edits.into_iter().map(|edit| (edit.range, edit.new_text)));
    }
    for change in edit.document_changes.into_iter().flatten() {
        match change {
            DocumentChange::TextDocumentEdit(change) => {
                let uri = change.text_document.text_document_identifier.uri.0;
                files.entry(uri).or_default().extend(change.edits.into_iter().map(
                    |edit| match edit {
                        Edit::TextEdit(edit) => (edit.range, edit.new_text),
                        Edit::AnnotatedTextEdit(edit) => {
                            (edit.text_edit.range, edit.text_edit.new_text)
                        }
                        Edit::SnippetTextEdit(edit) => (edit.range, edit.snippet.value),
                    },
                ));
            }
            DocumentChange::CreateFile(change) => {
                notices.push(format!("`{}` would be created", change.uri.0));
            }
            DocumentChange::DeleteFile(change) => {
                notices.push(format!("`{}` would be deleted", change.uri.0));
            }
            DocumentChange::RenameFile(change) => {
                notices.push(format!(
                    "`{}` would be renamed to `{}`",
                    change.old_uri.0, change.new_uri.0
                ));
            }
        }
    }
    files
}

/// The text of a file after its edits. `None` for a file that cannot be read.
fn apply_edits(file: &File, edits: Edits, encoding: Encoding) -> Result<Option<String>, LspError> {
    let (Some(text), Some(lines)) = (&file.text, &file.lines) else { return Ok(None) };
    let mut edits: Vec<_> =
        edits.into_iter().map(|(range, new)| (lines.bytes(&range, encoding), new)).collect();
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut result, mut end) = (String::new(), 0);
    for (range, new) in edits {
        if range.start < end || range.end < range.start {
            return Err(LspError::Invalid(format!("overlapping changes of `{}`", file.path)));
        }
        result += &text[end..range.start];
        result += &new;
        end = range.end;
    }
    Ok(Some(result + &text[end..]))
}
