//! The worktrees of a repository, as git lists them.

use super::git::Git;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use tool_runtime::ToolError;

/// A worktree of the repository.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// The commit that is checked out. `None` on a branch without commits.
    pub(super) head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`.
    pub(super) branch: Option<String>,
    /// Why `git worktree lock` was called; perhaps nothing. `None` if it is not locked.
    pub(super) locked: Option<String>,
}

impl Entry {
    /// # Errors
    /// Someone has locked the worktree, so that it is not removed.
    pub(super) fn check_unlocked(&self, name: &str) -> Result<(), ToolError> {
        let Some(reason) = &self.locked else { return Ok(()) };
        let reason = if reason.is_empty() { String::new() } else { format!(" (\"{reason}\")") };
        let gone = if self.path.exists() { "" } else { ", and its directory is gone" };
        Err(ToolError::user(format!(
            "the worktree `{name}` is locked{reason}{gone}; run `git worktree unlock {}`, then remove it by `ExitWorktree`",
            self.path.display()
        )))
    }
}

/// Asks git for the worktrees.
pub(super) async fn worktrees(git: &Git) -> Result<Vec<Entry>, ToolError> {
    Ok(parse(&git.run(&["worktree", "list", "--porcelain", "-z"]).await?))
}

fn parse(output: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in output.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            let path = OsString::from_vec(path.to_vec()).into();
            entries.push(Entry { path, ..Entry::default() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        let text = |rest: &[u8]| String::from_utf8_lossy(rest).into_owned();
        if let Some(head) = line.strip_prefix(b"HEAD ") {
            entry.head = Some(text(head)).filter(|head| head.bytes().any(|byte| byte != b'0'));
        }
        if let Some(branch) = line.strip_prefix(b"branch refs/heads/") {
            entry.branch = Some(text(branch));
        }
        if let Some(reason) = line.strip_prefix(b"locked") {
            entry.locked = Some(text(reason).trim().to_owned());
        }
    }
    entries
}
