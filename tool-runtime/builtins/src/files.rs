//! Tools that read and change files. The tools are declared here; their bodies are in the modules.
//!
//! | Module | Topic |
//! |---|---|
//! | `dir_entry` | from a path to an entry of a directory, through links |
//! | `text`, `snapshot` | encodings and line endings; the bytes of a file at one moment |
//! | `read` | lines with numbers, images, notebooks, large files |
//! | `edit` | replacing quoted text |
//! | `patch` | patches of several files |
//! | `change`, `editor`, `undo`, `list`, `directory` | the tools |
//! | `commit`, `transaction` | changes with their history; writing several of them, all or none |
//! | `publish`, `staging`, `saved`, `lock` | writing one file whole; new bytes that git does not take; old content of files written in place; excluding other processes |
//! | `rewrite` | changes by other families |
//! | `history`, `state` | versions that were read and changes that can be undone |
//! | `coverage` | the lines of a version that were not read |
//! | `diff` | results |
//!
//! Tools declare the file of a call, which orders the calls of a batch: relative paths begin at the first root, and
//! spellings of one file are one key. Correctness does not depend on it: writes of a workspace exclude each other,
//! and those of other processes.

mod change;
mod commit;
mod coverage;
mod diff;
mod dir_entry;
mod directory;
mod edit;
mod editor;
mod history;
mod list;
mod lock;
mod patch;
mod publish;
mod read;
#[cfg(feature = "code")]
mod rewrite;
mod saved;
mod snapshot;
mod staging;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod transaction;
mod undo;
mod visual;

pub use change::{ChangeOutput, EditOperation};
#[cfg(all(feature = "code", unix))]
pub(crate) use diff::unified as unified_diff;
pub use directory::{DeleteOutput, MoveOutput};
pub use edit::MatchRule;
pub use editor::{EditorCommand, EditorOutput};
pub use list::{Entry, EntryKind, ListOutput};
pub use patch::{PatchAction, PatchOutput, PatchedFile};
pub use read::ReadOutput;
#[cfg(feature = "code")]
pub(crate) use read::joined as joined_lines;
#[cfg(feature = "code")]
pub(crate) use rewrite::rewrite;
pub(crate) use state::FileState;
pub use text::Eol;

use crate::builtins::{Builtins, Family, Profile};
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use change::OLD_STRING;
use commit::Freshness;
use editor::EditorCall;
use read::ReadWindow;
use tool_runtime::Access;
use tool_runtime::prelude::*;

/// Tools that read and change files. See [`Builtins::files`](crate::Builtins::files).
pub struct Files {
    workspace: Workspace,
}

#[toolset(prefix = "", open_world = false, timeout = "60s", register = false)]
impl Files {
    /// Read a file: text with line numbers, an image as an image, a notebook as cells.
    ///
    /// Long files are read in parts. A file must be read before it is changed.
    #[tool(
        name = "Read",
        read_only,
        idempotent,
        destructive = false,
        tags("core"),
        progress,
        reads("file:{file_path}")
    )]
    fn read(
        &self,
        /// Path of the file.
        #[arg(match_as = "path", length = 1..=4096, alias = "path")]
        file_path: String,
        /// Number of the first line, counted from 1. Negative numbers count from the end: -20 for the last 20 lines.
        offset: Option<i64>,
        /// Number of lines. Default: 2000.
        #[arg(range = 1..=100_000)]
        limit: Option<usize>,
        context: &ToolContext,
    ) -> Result<ToolOutput<ReadOutput>, ToolError> {
        self.read_lines(&file_path, ReadWindow::new(offset, limit), context)
    }

    /// Create a file, or replace its whole content. Missing directories are created.
    ///
    /// A file that exists must have been read, all of its lines, in one part or several; to change some lines, use `Edit`.
    /// It keeps its encoding, its line endings and its permissions.
    #[tool(
        name = "Write",
        destructive,
        idempotent,
        read_only = false,
        tags("core", "edit"),
        visualize = visual::write,
        writes("file:{file_path}")
    )]
    fn write(
        &self,
        /// Path of the file.
        #[arg(match_as = "path", length = 1..=4096, alias = "path")]
        file_path: String,
        /// The whole content.
        #[arg(alias = "file_text")]
        content: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        self.write_whole(&file_path, &content, context)
    }

    /// Replace text in a file that was read.
    ///
    /// `old_string` must be in the file exactly once: quote it without line numbers and with enough lines around it,
    /// or set `replace_all`. An empty `old_string` creates the file.
    #[tool(
        name = "Edit",
        destructive,
        idempotent = false,
        read_only = false,
        tags("core", "edit"),
        visualize = visual::edit,
        writes("file:{file_path}")
    )]
    fn edit(
        &self,
        /// Path of the file.
        #[arg(match_as = "path", length = 1..=4096, alias = "path")]
        file_path: String,
        /// The text to replace, as it is in the file.
        #[arg(alias = "old_str")]
        old_string: String,
        /// The text to replace it with.
        #[arg(alias = "new_str")]
        new_string: String,
        /// Replace all matches.
        #[arg(default)]
        replace_all: bool,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let edit = EditOperation { old_string, new_string, replace_all };
        self.edit_file(&file_path, &[edit], Freshness::Read, OLD_STRING, context)
    }

    /// Make several replacements in a file that was read, one after another: all of them, or none.
    #[tool(
        name = "MultiEdit",
        destructive,
        idempotent = false,
        read_only = false,
        tags("advanced", "edit"),
        visualize = visual::multi_edit,
        writes("file:{file_path}")
    )]
    fn multi_edit(
        &self,
        /// Path of the file.
        #[arg(match_as = "path", length = 1..=4096, alias = "path")]
        file_path: String,
        /// The replacements. Each is made in the result of the one before.
        #[arg(length = 1..=1000)]
        edits: Vec<EditOperation>,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        self.edit_file(&file_path, &edits, Freshness::Read, OLD_STRING, context)
    }

    /// Change several files by a patch: all of them, or none.
    ///
    /// The patch has the form `*** Begin Patch`, `*** Update File: path` (or `Add File`, `Delete File`), hunks with
    /// `@@`, context lines with a space, `-` and `+`, and at the end `*** End Patch`. Unified diffs are accepted, too.
    /// The old lines of each hunk must be in the file exactly once: line numbers do not select a match, more context does.
    /// `Delete File` and `Add File` of one path replace the file. Symbolic links are not added, deleted or moved.
    #[tool(destructive, idempotent = false, read_only = false, tags("advanced", "edit"), progress, access = patch_access, visualize = visual::patch)]
    fn apply_patch(
        &self,
        /// The patch.
        #[arg(alias = "input", length = 1..=4_000_000)]
        patch: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<PatchOutput>, ToolError> {
        self.patch_files(&patch, context)
    }

    /// Undo the last change of the content of a file by these tools, also its creation or deletion. Up to ten changes of
    /// a file, one for each call. Moves are not undone: move the file back.
    #[tool(
        name = "UndoEdit",
        destructive,
        idempotent = false,
        read_only = false,
        tags("advanced", "edit"),
        writes("file:{file_path}")
    )]
    fn undo_edit(
        &self,
        /// Path of the file.
        #[arg(match_as = "path", length = 1..=4096, alias = "path")]
        file_path: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        self.undo_change(&file_path, context)
    }

    /// View, create and edit files.
    ///
    /// `view` shows a file with line numbers, or lists a directory. `create` makes a new file of `file_text`.
    /// `str_replace` replaces `old_str`, which must be in the file exactly once, by `new_str`. `insert` puts `new_str`
    /// after the line `insert_line`. `undo_edit` undoes the last change of the file.
    #[tool(
        destructive,
        idempotent = false,
        read_only = false,
        tags("core", "edit"),
        progress,
        visualize = visual::editor,
        writes("file:{path}")
    )]
    #[allow(clippy::too_many_arguments, reason = "the arguments of all commands")]
    fn file_editor(
        &self,
        /// The command.
        command: EditorCommand,
        /// Path of the file or directory.
        #[arg(match_as = "path", length = 1..=4096, alias = "file_path")]
        path: String,
        /// Content of the file, for `create`.
        #[arg(alias = "content")]
        file_text: Option<String>,
        /// Text to replace, for `str_replace`.
        #[arg(alias = "old_string")]
        old_str: Option<String>,
        /// New text, for `str_replace` and `insert`.
        #[arg(alias = "new_string")]
        new_str: Option<String>,
        /// Line after which to insert, 0 for the beginning.
        insert_line: Option<usize>,
        /// First and last line to view, counted from 1; -1 for the end of the file.
        #[arg(length = 2..=2)]
        view_range: Option<Vec<i64>>,
        context: &ToolContext,
    ) -> Result<ToolOutput<EditorOutput>, ToolError> {
        let call =
            EditorCall { command, path, file_text, old_str, new_str, insert_line, view_range };
        self.run_editor(call, context)
    }

    /// List the entries of a directory with their sizes.
    #[tool(
        name = "ListDirectory",
        read_only,
        idempotent,
        destructive = false,
        tags("core"),
        reads("file:{path}")
    )]
    fn list_directory(
        &self,
        /// Path of the directory. Default: the working directory.
        #[arg(match_as = "path", default = ".", length = 1..=4096, alias("dir_path", "directory"))]
        path: String,
        /// Levels of directories.
        #[arg(default = 1, range = 1..=5)]
        depth: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput<ListOutput>, ToolError> {
        self.list(&path, depth, context)
    }

    /// Move or rename a file or a directory. The new name must not exist; into a directory that exists, it is moved
    /// under its own name.
    #[tool(
        name = "Move",
        destructive = false,
        idempotent = false,
        read_only = false,
        tags("advanced", "edit"),
        writes("file:{source}", "file:{destination}")
    )]
    fn move_file(
        &self,
        /// Path of the file or directory.
        #[arg(match_as = "path", length = 1..=4096)]
        source: String,
        /// Its new path.
        #[arg(length = 1..=4096)]
        destination: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<MoveOutput>, ToolError> {
        self.move_entry(&source, &destination, context)
    }

    /// Delete a file, a symbolic link or an empty directory.
    #[tool(
        name = "Delete",
        destructive,
        idempotent = false,
        read_only = false,
        tags("advanced"),
        writes("file:{path}")
    )]
    fn delete(
        &self,
        /// Path of what to delete.
        #[arg(match_as = "path", length = 1..=4096, alias = "file_path")]
        path: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<DeleteOutput>, ToolError> {
        self.delete_entry(&path, context)
    }
}

fn patch_access(call: &FilesApplyPatchAction) -> Access {
    patch::access(&call.patch)
}

impl Toolset for Files {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::from_context(context)?))
    }
}

impl Builtins {
    /// Adds the tools for files: read, write, edit, patch, list, move, delete, undo.
    pub fn files(self) -> Self {
        self.family_of_tools(|builtins| {
            let tools = builtins.tools(Ok(Files::over(builtins.workspace().clone())));
            let show = |tool: Tool| match tool.name() == builtins.named("Write") {
                true => {
                    let files = Files::over(builtins.workspace().clone());
                    tool.visualize_with(move |arguments, caller| {
                        visual::replacement(&files, arguments, caller)
                    })
                }
                false => tool,
            };
            tools.into_iter().map(show).collect()
        })
    }
}

impl Files {
    pub(crate) fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Family for Files {
    const FILE_CHECKS: &[&str] = &["ListDirectory"];

    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &[
                "Read",
                "Write",
                "Edit",
                "MultiEdit",
                "apply_patch",
                "UndoEdit",
                "ListDirectory",
                "Move",
                "Delete",
            ],
            Profile::OpenHands => &["file_editor", "apply_patch"],
        }
    }

    /// The name in Anthropic's and in earlier tools of OpenHands.
    fn other_names(tool: &str) -> &'static [&'static str] {
        if tool == "file_editor" { &["str_replace_editor"] } else { &[] }
    }
}
