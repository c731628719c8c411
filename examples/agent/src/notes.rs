//! Tools over a few notes.

use std::sync::Mutex;
use tool_runtime::prelude::*;

/// Titles of notes.
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn new(titles: &[&str]) -> Self {
        Self(Mutex::new(titles.iter().map(|title| (*title).to_owned()).collect()))
    }
}

/// List the titles of all notes.
#[tool(read_only)]
pub(crate) async fn list_notes(notes: &Notes) -> String {
    notes.0.lock().expect("whole").join("\n")
}

/// Delete notes.
#[tool(destructive, progress)]
pub(crate) async fn delete_notes(
    /// Their titles.
    titles: Vec<String>,
    notes: &Notes,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let mut notes = notes.0.lock().expect("whole");
    for (index, title) in titles.iter().enumerate() {
        let Some(position) = notes.iter().position(|known| known == title) else {
            return Err(ToolError::user(format!("no note is titled `{title}`; call `list_notes`")));
        };
        notes.remove(position);
        context.progress(index + 1, titles.len(), format_args!("deleted `{title}`"));
    }
    Ok(format!("{} are left", notes.len()))
}
