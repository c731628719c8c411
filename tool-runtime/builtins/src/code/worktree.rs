//! Worktrees of git: copies of the repository's files, each on a branch of its own.
//!
//! A worktree lies in a directory inside a root, so that every tool reaches it by its path. The tools of a session
//! do not move into it: `EnterWorktree` returns the path that the model uses in later calls.
//!
//! Git itself holds the state, so worktrees outlive the process and are shared with other processes.

mod enter;
mod exit;
mod git;
mod list;
mod loss;
mod name;
mod output;
mod repository;
#[cfg(test)]
mod tests;

pub use output::{ExitAction, ExitOutput, WorktreeOutput};

use super::params::WorktreeParams;
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use crate::workspace::{Location, Workspace};
use git::Git;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tool_runtime::prelude::*;

/// The tools for worktrees. See [`Builtins::code`](crate::Builtins::code).
///
/// They work on the repository of the first root, by the program git, without prompts and time-limited. Git does not read
/// the settings of the repository, which name hooks, filters and file monitors, unless the operator allows them. Nothing that is not
/// committed, and no commit that is not on another branch, is removed unless `discard_changes` says so; files that git
/// ignores, such as build products, are removed with their worktree.
pub struct Worktrees {
    inner: Arc<Inner>,
}

/// Everything that the calls share.
struct Inner {
    workspace: Workspace,
    directory: PathBuf,
    git: Git,
    /// Held by calls that change worktrees.
    changing: Mutex<()>,
}

#[toolset(prefix = "", open_world = false, timeout = "600s", register = false)]
impl Worktrees {
    /// Create a git worktree: a copy of the repository's files in a directory of its own, on a new branch. Changes in
    /// it do not touch the files of the repository itself. An existing worktree is returned to.
    ///
    /// Other tools stay where they are: use the returned path in their arguments.
    #[tool(
        name = "EnterWorktree",
        read_only = false,
        destructive = false,
        idempotent,
        tags("specialist"),
        writes("worktree:{name}")
    )]
    async fn enter_worktree(
        &self,
        /// Name of the worktree and of its branch: letters, digits, `-`, `_` and `.`.
        name: String,
        /// Branch, tag or commit at which the new branch begins. Default: the current commit.
        #[arg(length = 1..=250)]
        base: Option<String>,
    ) -> Result<ToolOutput<WorktreeOutput>, ToolError> {
        let inner = Arc::clone(&self.inner);
        run_to_end(async move { inner.enter(&name, base.as_deref()).await })
            .await
            .map(ToolOutput::from_display)
    }

    /// Leave a git worktree: keep it for later, or remove its directory and its branch.
    ///
    /// A worktree with work that would be lost is not removed: files that are not committed, files that git does not
    /// track, and commits that are not on another branch are listed instead. Files that git ignores are removed. A
    /// locked worktree is not removed.
    #[tool(
        name = "ExitWorktree",
        read_only = false,
        destructive,
        idempotent = false,
        tags("specialist"),
        writes("worktree:{name}")
    )]
    async fn exit_worktree(
        &self,
        /// Name of the worktree.
        #[arg(alias("id"))]
        name: String,
        /// Whether the worktree is kept or removed.
        action: ExitAction,
        /// Whether a worktree is removed together with work that is nowhere else.
        #[arg(default)]
        discard_changes: bool,
    ) -> Result<ToolOutput<ExitOutput>, ToolError> {
        let inner = Arc::clone(&self.inner);
        run_to_end(async move { inner.exit(&name, action, discard_changes).await })
            .await
            .map(ToolOutput::from_display)
    }
}

/// Runs a change to its end, also if its call is cancelled meanwhile: git would leave half of it.
async fn run_to_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, ToolError>> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::spawn(change).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(ToolError::internal(error)),
        },
    }
}

/// The directory of the worktrees, which exists.
struct Directory {
    location: Location,
    canonical: PathBuf,
}

impl Directory {
    fn canonical(&self) -> &Path {
        &self.canonical
    }
}

impl Worktrees {
    /// The tools over a workspace.
    ///
    /// # Errors
    /// The program git is missing, or the sandbox.
    pub(crate) fn new(workspace: Workspace, params: WorktreeParams) -> Result<Self, String> {
        workspace.confinement().check()?;
        let git = Git::new(&workspace, &params.git, params.hooks)?;
        let inner =
            Inner { workspace, directory: params.directory, git, changing: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }
}

impl Family for Worktrees {
    fn tools_of(_: Profile) -> &'static [&'static str] {
        &["EnterWorktree", "ExitWorktree"]
    }
}

impl Inner {
    /// Creates the directory if it is missing, with a rule by which git and searches ignore it.
    fn directory(&self) -> Result<Directory, ToolError> {
        let wanted = self.workspace.resolve(&self.directory.to_string_lossy())?;
        let (dir, path) = (wanted.root().dir(), wanted.path());
        if !dir.exists(path) {
            dir.create_dir_all(path)?;
            dir.write(path.join(".gitignore"), "*\n")?;
        }
        let real = dir.canonicalize(path)?;
        if real.as_os_str().is_empty() || real == Path::new(".") {
            return Err(ToolError::user("the directory for worktrees must be inside a root"));
        }
        let canonical = wanted.root().canonical_path().join(&real);
        Ok(Directory { location: wanted.with_path(real), canonical })
    }

    /// The path of a worktree, as models write it.
    fn display_path(&self, directory: &Directory, name: &str) -> String {
        let path = directory.location.path().join(name);
        directory.location.with_path(path).to_string()
    }
}

impl Toolset for Worktrees {
    type Params = WorktreeParams;

    /// The workspace is state of the pool.
    async fn create(params: WorktreeParams, context: &ToolContext) -> Result<Self, ToolError> {
        Self::new(Workspace::from_context(context)?, params).map_err(ToolError::user)
    }
}
