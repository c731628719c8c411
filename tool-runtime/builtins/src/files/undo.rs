//! Undoing the last change of the content of a file.

use super::Files;
use super::change::{Applied, ChangeOutput, output_of};
use super::commit::{Before, Change, join};
use super::diff;
use super::dir_entry::{self, DirEntry, Target};
use super::history::{Content, Undo, Version};
use super::snapshot::{Hash, Snapshot, hash};
use super::text::Text;
use super::transaction::{Written, write_changes};
use crate::caller::Caller;
use crate::tool_output::ToolOutput;
use crate::workspace::Location;
use tool_runtime::{ToolContext, ToolError};

/// Continues a sentence about a path.
const DROPPED: &str = "was changed, but this cannot be undone any more: the content of the last changes alone is kept, of ten changes of a file, and 64 MiB in all";

/// Continues a sentence about a path.
const NO_CHANGE: &str = "has no change of its content to undo; to undo a move, move the entry back; to undo the deletion of a link or directory, create it by a command";

impl Files {
    /// Brings back the content of a file before its last change by these tools.
    pub(super) fn undo_change(
        &self,
        path: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let Undo { number, content, .. } = self.last_change(&location)?;
        let Content { before: version, after } = content;
        let _one_at_a_time = self.writing();
        let before = check_unchanged(&location, after)?;
        let diff = version_diff(&location, before.snapshot(), version.as_ref());
        let created = before.snapshot().is_none();
        let hash = version.as_ref().map(|version| hash(&version.bytes));
        let lines = before.changed_lines(version.as_ref().map(|version| version.bytes.as_slice()));
        let Written { keys, notices } = write_changes(&[Change::back(before, version)], context)?;
        let mut history = self.history();
        for key in keys {
            history.see_or_forget(&key, &Caller::from_context(context), hash, lines);
        }
        history.undone(number);
        let output = output_of(location.to_string(), created, diff, Applied::default(), hash);
        Ok(output.with_notice(join(notices)))
    }

    /// The last change of a file, or of the file that a link leads to.
    fn last_change(&self, location: &Location) -> Result<Undo, ToolError> {
        let key = match dir_entry::find(location)? {
            Target::File(entry) => entry.key,
            Target::Directory(location) | Target::Missing(location) => {
                DirEntry::of_new(&location)?.key
            }
        };
        let history = self.history();
        history.last(&key).cloned().ok_or_else(|| {
            let reason = if history.has_dropped(&key) { DROPPED } else { NO_CHANGE };
            ToolError::user(format!("`{location}` {reason}"))
        })
    }
}

/// The state of a file that only these tools changed.
fn check_unchanged(location: &Location, expected: Option<Hash>) -> Result<Before, ToolError> {
    let before = Before::read(location)?;
    if before.snapshot().map(Snapshot::hash) == expected {
        return Ok(before);
    }
    Err(ToolError::user(format!(
        "`{location}` was changed by others since, and undo would lose their changes; edit or write the file instead"
    )))
}

/// The changes that undo makes.
fn version_diff(location: &Location, old: Option<&Snapshot>, new: Option<&Version>) -> String {
    let text = |bytes: &[u8]| Text::decode(bytes).map(|text| text.content).unwrap_or_default();
    let old = old.map(|snapshot| text(&snapshot.bytes));
    let new = new.map(|version| text(&version.bytes));
    diff::unified(&location.to_string(), old.as_deref(), new.as_deref())
}
