//! Changes by other families: the rules of `Edit` for content that they compute.

use super::Files;
use super::change::{Applied, ChangeOutput, decode_text};
use super::commit::Freshness;
use super::dir_entry;
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use tool_runtime::{ToolContext, ToolError};

/// Replaces the content of a file that was read and did not change since. Encoding and permissions stay, the change
/// can be undone, and `rewrite` may return a value besides the new content.
///
/// # Errors
/// The file is missing, was not read, changed since, or is not text; `rewrite` failed; or it cannot be written.
pub(crate) fn rewrite<T>(
    workspace: &Workspace,
    path: &str,
    context: &ToolContext,
    rewrite: impl FnOnce(&str) -> Result<(String, T), ToolError>,
) -> Result<(ToolOutput<ChangeOutput>, T), ToolError> {
    let files = Files::over(workspace.clone());
    let before = files.read_to_change(path, Freshness::Read, context)?;
    let Some(text) = decode_text(&before)? else {
        return Err(dir_entry::missing(before.location()));
    };
    let (content, value) = rewrite(&text.content)?;
    let output = files.change(before, Some(text), Some(content), Applied::default(), context)?;
    Ok((output, value))
}
