//! State of the tools for files in a workspace.

use super::Files;
use super::history::FileHistory;
use super::read::LineMarks;
use std::sync::{Mutex, MutexGuard};
use tool_runtime::__seam::lock;

/// State of the tools for files in a workspace.
#[derive(Default)]
pub(crate) struct FileState {
    history: Mutex<FileHistory>,
    line_marks: Mutex<LineMarks>,
    /// Held while files are written, so that calls of this workspace do not overtake each other between a check, its
    /// write and the record of it. The directories are locked as well, for other processes.
    writing: Mutex<()>,
}

impl Files {
    pub(super) fn history(&self) -> MutexGuard<'_, FileHistory> {
        lock(&self.workspace.file_state().history)
    }

    pub(super) fn line_marks(&self) -> MutexGuard<'_, LineMarks> {
        lock(&self.workspace.file_state().line_marks)
    }

    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        lock(&self.workspace.file_state().writing)
    }
}
