//! Undoing the last change of a file.

use super::Files;
use super::change::ChangeOutput;
use super::commit::{Before, Change};
use super::diff;
use super::place::describe;
use super::snapshot::hash;
use super::text::Text;
use crate::shown::Shown;
use tool_runtime::{ToolContext, ToolError};

impl Files {
    /// Brings back the version of a file before its last change by these tools.
    pub(super) fn undo_change(
        &self,
        path: &str,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let before = Before::read(&self.workspace.resolve(path)?)?;
        let location = before.location().clone();
        let key = before.key_or_new()?;
        let current = before.snapshot().map(|snapshot| snapshot.hash());
        let version = match self.history().last(&key) {
            None => return Err(ToolError::user(format!("`{location}` has no change to undo"))),
            Some(last) if last.after != current => {
                return Err(ToolError::user(format!(
                    "`{location}` was changed by others since; undo would lose their changes"
                )));
            }
            Some(last) => last.before.clone(),
        };
        let text = |bytes: &[u8]| Text::decode(bytes).map(|text| text.content).unwrap_or_default();
        let old = before.snapshot().map(|snapshot| text(&snapshot.bytes));
        let new = version.as_ref().map(|version| text(&version.bytes));
        let diff = diff::unified(&location.to_string(), old.as_deref(), new.as_deref());
        let created = before.snapshot().is_none();
        let after = version.as_ref().map(|version| version.bytes.clone());
        let hash = after.as_deref().map(hash);
        self.write_changes(&[Change { before, after }], context)?;
        if let Some(version) = version.filter(|_| created) {
            let permissions =
                location.root().dir().set_permissions(location.path(), version.permissions);
            permissions.map_err(|error| describe(&location.to_string(), &error))?;
        }
        self.history().undone(&key, hash);
        Ok(super::change::shown(location.to_string(), created, diff, Default::default(), hash))
    }
}
