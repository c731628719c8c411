//! Leaving a worktree.

use super::list::{Entry, worktrees};
use super::loss::{Loss, branch_commit};
use super::{ExitAction, ExitOutput, Inner, name};
use std::ffi::OsString;
use std::path::Path;
use tool_runtime::ToolError;

impl Inner {
    /// Keeps or removes a worktree.
    pub(super) async fn exit(
        &self,
        name: &str,
        action: ExitAction,
        discards: bool,
    ) -> Result<ExitOutput, ToolError> {
        name::check(name)?;
        let _one_at_a_time = self.changing.lock().await;
        let entry = self.entry(name).await?;
        let branch = branch_commit(&self.git, name).await?;
        let loss = Loss::inspect(&self.git, &entry, name).await?;
        let output = ExitOutput {
            name: name.to_owned(),
            action,
            path: self.display_path(&self.directory()?, name),
            commit: branch.clone().or_else(|| entry.head.clone()),
            branch: entry.branch.clone(),
            branch_deleted: false,
            changed_files: loss.changed.len() + loss.concealed.len(),
            untracked_files: loss.untracked.len(),
            unmerged_commits: loss.commit_count,
            submodules: loss.submodules.len(),
        };
        if action == ExitAction::Keep {
            return Ok(output);
        }
        entry.check_unlocked(name)?;
        if !discards && !loss.is_empty() {
            return Err(ToolError::user(format!(
                "removing the worktree `{name}` would destroy work, so nothing was removed\n{}commit and merge it, keep \
                 the worktree by `action` `keep`, or set `discard_changes` if all of this may be lost",
                loss.list()
            )));
        }
        self.remove(&entry.path, discards).await?;
        let branch_deleted = self.delete_branch(name, branch.as_deref()).await?;
        Ok(ExitOutput { branch_deleted, ..output })
    }

    /// The worktree of a name.
    async fn entry(&self, name: &str) -> Result<Entry, ToolError> {
        let directory = self.directory()?;
        let mut known = worktrees(&self.git).await?;
        let path = directory.canonical().join(name);
        if let Some(found) = known.iter().position(|entry| entry.path == path) {
            return Ok(known.swap_remove(found));
        }
        let names = known.iter().filter(|entry| entry.path.parent() == Some(directory.canonical()));
        let names: Vec<String> = names
            .filter_map(|entry| Some(format!("`{}`", entry.path.file_name()?.to_string_lossy())))
            .collect();
        let others = match names.is_empty() {
            true => "create one by `EnterWorktree`".to_owned(),
            false => format!("there is {}", names.join(", ")),
        };
        Err(ToolError::user(format!("there is no worktree `{name}`; {others}")))
    }

    /// Git itself refuses to remove a worktree with changes, also if they were made since we looked.
    pub(super) async fn remove(&self, path: &Path, discards: bool) -> Result<(), ToolError> {
        let mut words: Vec<OsString> = ["worktree", "remove"].map(OsString::from).into();
        if discards {
            words.push("--force".into());
        }
        words.extend(["--".into(), path.into()]);
        self.git.run(&words).await.map(drop)
    }

    /// Deletes the branch of a removed worktree, unless it moved since we looked or another worktree uses it.
    async fn delete_branch(&self, name: &str, commit: Option<&str>) -> Result<bool, ToolError> {
        let Some(commit) = commit else { return Ok(false) };
        let known = worktrees(&self.git).await?;
        if known.iter().any(|entry| entry.branch.as_deref() == Some(name)) {
            return Ok(false);
        }
        let reference = format!("refs/heads/{name}");
        let deleted = self.git.test(&["update-ref", "-d", &reference, commit]).await?;
        Ok(deleted.success)
    }
}
