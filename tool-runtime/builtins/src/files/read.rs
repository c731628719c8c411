//! Reading files for models: text with line numbers, images, notebooks.

mod large;
mod lines;
mod notebook;
mod window;

pub(crate) use large::LineMarks;

use super::Files;
use super::change::assumption;
use super::coverage::Unread;
use super::dir_entry::{self, DirEntry, Target};
use super::history::Seen;
use super::snapshot::{Hash, MAX_SHOWN, Snapshot, hash};
use super::text::{Binary, Encoding, Eol, Text};
use crate::caller::Caller;
use crate::image_block;
use crate::tool_output::ToolOutput;
#[cfg(feature = "code")]
pub(crate) use notebook::joined;
use schemars::JsonSchema;
use serde::Serialize;
use tool_runtime::__seam::hex;
use tool_runtime::{ToolContext, ToolError};
use window::{Cut, Window};

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadOutput {
    /// Path of the file.
    pub path: String,
    /// Its lines, each after its number and a tab. Empty for an image.
    pub text: String,
    /// Number of the first line, counted from 1; 0 if there are none.
    pub first_line: usize,
    /// How many lines are shown.
    pub lines: usize,
    /// How many lines the file has, if it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Whether lines, or parts of them, are left out.
    pub truncated: bool,
    /// Name of the encoding, or the MIME type of an image.
    pub encoding: String,
    /// Line endings.
    pub eol: Eol,
    /// SHA-256 of the file, if it was read whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The lines that were cut, counted from 0.
    #[serde(skip)]
    cut_lines: Vec<usize>,
}

impl Files {
    /// Reads a part of a file.
    pub(super) fn read_lines(
        &self,
        path: &str,
        window: Window,
        context: &ToolContext,
    ) -> Result<ToolOutput<ReadOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let entry = match dir_entry::find(&location)? {
            Target::File(entry) => entry,
            Target::Missing(location) => return Err(dir_entry::missing(&location)),
            Target::Directory(_) => {
                return Err(ToolError::user(format!(
                    "`{location}` is a directory; list it instead"
                )));
            }
        };
        let (file, metadata) = entry.open()?;
        if metadata.len() > MAX_SHOWN {
            return self.read_large(&entry, file, &metadata, window, context);
        }
        let snapshot = Snapshot::read_up_to(MAX_SHOWN, &entry)?;
        let output = show(&entry, &snapshot.bytes, window)?;
        let ReadOutput { first_line, lines, total, ref cut_lines, .. } = output.value;
        let start = first_line.saturating_sub(1);
        // An image has no lines.
        let unread =
            total.map(|total| Unread::except(start..start + lines, total).with_lines(cut_lines));
        let seen = Seen { version: snapshot.hash(), unread: unread.unwrap_or_default() };
        self.history().see(&entry.key, &Caller::from_context(context), seen);
        Ok(output)
    }
}

/// The file in the form of its kind.
fn show(
    entry: &DirEntry,
    bytes: &[u8],
    window: Window,
) -> Result<ToolOutput<ReadOutput>, ToolError> {
    match Text::decode(bytes) {
        Ok(text) if entry.is_notebook() => match notebook::cells(&text.content) {
            Some(cells) => lines(entry, bytes, &text, &cells, window),
            None => lines(entry, bytes, &text, &text.content, window),
        },
        Ok(text) => lines(entry, bytes, &text, &text.content, window),
        Err(Binary::Format(Some(format))) if image_block::supported(format).is_some() => {
            image_output(entry, bytes, format)
        }
        Err(binary) => Err(not_text(&entry.display_path, bytes.len() as u64, binary)),
    }
}

fn lines(
    entry: &DirEntry,
    bytes: &[u8],
    text: &Text,
    content: &str,
    window: Window,
) -> Result<ToolOutput<ReadOutput>, ToolError> {
    let cut = window.of_text(&entry.display_path, content)?;
    Ok(text_output(entry, cut, text.encoding, Eol::from_text(&text.content), Some(hash(bytes))))
}

fn text_output(
    entry: &DirEntry,
    mut cut: Cut,
    encoding: Encoding,
    eol: Eol,
    hash: Option<Hash>,
) -> ToolOutput<ReadOutput> {
    cut.text.extend(encoding.assumed().map(assumption));
    let value = ReadOutput {
        path: entry.display_path.clone(),
        text: cut.text.clone(),
        first_line: cut.first_line,
        lines: cut.lines,
        total: cut.total,
        cut_lines: cut.cut_lines,
        truncated: cut.is_truncated,
        encoding: encoding.name().to_owned(),
        eol,
        sha256: hash.as_ref().map(|hash| hex(hash)),
    };
    ToolOutput::new(cut.text, value)
}

fn image_output(
    entry: &DirEntry,
    bytes: &[u8],
    format: &'static str,
) -> Result<ToolOutput<ReadOutput>, ToolError> {
    let image = image_block::block(bytes, format).map_err(|error| {
        ToolError::user(format!("`{}` cannot be shown: {error}", entry.display_path))
    })?;
    let value = ReadOutput {
        path: entry.display_path.clone(),
        text: String::new(),
        first_line: 0,
        lines: 0,
        total: None,
        truncated: image.is_smaller,
        encoding: format.to_owned(),
        eol: Eol::None,
        sha256: Some(hex(&hash(bytes))),
        cut_lines: Vec::new(),
    };
    let mut output = ToolOutput::new(image.notice, value);
    output.blocks.push(image.block);
    Ok(output)
}

fn not_text(display_path: &str, length: u64, binary: Binary) -> ToolError {
    let remedy = match binary {
        Binary::Format(_) => format!(", {length} bytes; run a command that reads this format"),
        Binary::Lossy(_) => String::new(),
    };
    ToolError::user(format!("`{display_path}` {binary}{remedy}"))
}

pub(super) use window::{MAX_LINE, Window as ReadWindow, lines_of};
