//! Results of the tools for worktrees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// The action on a worktree that a model leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitAction {
    /// Directory and branch stay.
    Keep,
    /// Directory and branch are removed.
    Remove,
}

/// A worktree that was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WorktreeOutput {
    /// Name of the worktree.
    pub name: String,
    /// Directory of the worktree, for the paths of other tools.
    pub path: String,
    /// The same directory, absolute.
    pub absolute_path: String,
    /// Branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Commit at which the branch began, if it was created now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// Whether the worktree is new. Otherwise it has the work of an earlier stay.
    pub created: bool,
}

impl fmt::Display for WorktreeOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, path, .. } = self;
        match (self.created, &self.branch) {
            (true, _) => write!(f, "created the worktree `{name}` on the new branch `{name}`")?,
            (false, Some(branch)) => {
                write!(f, "returned to the worktree `{name}` on the branch `{branch}`")?;
            }
            (false, None) => {
                write!(f, "returned to the worktree `{name}`, which is not on a branch")?;
            }
        }
        if let Some(commit) = &self.commit {
            write!(f, ", at commit {commit}")?;
        }
        write!(
            f,
            "\nits files are in `{path}`: begin paths of other tools with it, and commands with `cd {path}`"
        )
    }
}

/// A worktree that was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExitOutput {
    /// Name of the worktree.
    pub name: String,
    /// The action that was taken.
    pub action: ExitAction,
    /// Directory of the worktree.
    pub path: String,
    /// Branch that is checked out, or was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Last commit of the worktree's branch. A branch that was deleted can be created again there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the branch was deleted.
    pub branch_deleted: bool,
    /// Number of changed files that are not committed.
    pub changed_files: usize,
    /// Number of files that git does not track.
    pub untracked_files: usize,
    /// Number of commits that are not on another branch.
    pub unmerged_commits: usize,
    /// Number of submodules with repositories of their own, whose changes and commits are not counted.
    pub submodules: usize,
}

impl fmt::Display for ExitOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, path, changed_files, untracked_files, unmerged_commits, submodules, ..
        } = self;
        let mut work = format!(
            "{changed_files} changed files, {untracked_files} files that git does not track, {unmerged_commits} commits that are not on another branch"
        );
        if *submodules > 0 {
            let _ = write!(work, ", {submodules} submodules, whose own work is not counted");
        }
        if self.action == ExitAction::Keep {
            return write!(f, "kept the worktree `{name}` in `{path}`: {work}");
        }
        write!(f, "removed the worktree `{name}`")?;
        match &self.commit {
            Some(commit) if self.branch_deleted => {
                write!(f, " and its branch, which was at commit {commit}")?;
            }
            _ => write!(f, "; its branch was not deleted")?,
        }
        if changed_files + untracked_files + unmerged_commits + submodules > 0 {
            write!(f, "\ndiscarded: {work}")?;
        }
        Ok(())
    }
}
