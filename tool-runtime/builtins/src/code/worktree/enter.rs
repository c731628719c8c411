//! Creating a worktree, or returning to one.

use super::Inner;
use super::git::{Ended, line};
use super::list::{Entry, worktrees};
use super::loss::branch_commit;
use super::repository;
use super::{Directory, WorktreeOutput, name};
use crate::random;
use crate::workspace::open_file;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::Path;
use tool_runtime::ToolError;

/// Bytes of the file of a worktree that names its repository.
const MAX_LINK: u64 = 8 << 10;

impl Inner {
    /// Creates a worktree on a new branch. One that exists is returned as it is.
    pub(super) async fn enter(
        &self,
        name: &str,
        base: Option<&str>,
    ) -> Result<WorktreeOutput, ToolError> {
        name::check(name)?;
        let _one_at_a_time = self.changing.lock().await;
        let known = worktrees(&self.git).await?;
        let directory = self.directory()?;
        let path = directory.canonical().join(name);
        if let Some(entry) = known.into_iter().find(|entry| entry.path == path) {
            return self.returned(name, entry, base);
        }
        if path.symlink_metadata().is_ok() {
            return Err(ToolError::user(format!(
                "`{}` exists already and is not a worktree; choose another name",
                self.display_path(&directory, name)
            )));
        }
        if branch_commit(&self.git, name).await?.is_some() {
            return Err(ToolError::user(format!(
                "the branch `{name}` exists already; choose another name"
            )));
        }
        let commit = self.commit(base.unwrap_or("HEAD")).await?;
        let reference = format!("refs/heads/{name}");
        // The empty value requires that it does not exist: a branch that another process has created since is not
        // deleted below.
        self.git.run(&["update-ref", &reference, &commit, ""]).await?;
        if let Err(error) = self.add(&directory, &path, name).await {
            let _ = self.git.test(&["update-ref", "-d", &reference, &commit]).await;
            return Err(error);
        }
        let path = self.display_path(&directory, name);
        Ok(WorktreeOutput {
            name: name.to_owned(),
            absolute_path: directory.canonical().join(name).display().to_string(),
            path,
            branch: Some(name.to_owned()),
            commit: Some(commit.clone()),
            base_commit: Some(commit),
            created: true,
        })
    }

    /// Adds the worktree of a branch.
    async fn add(&self, directory: &Directory, path: &Path, branch: &str) -> Result<(), ToolError> {
        let mut words: Vec<OsString> = ["worktree", "add", "--quiet"].map(OsString::from).into();
        words.extend((!self.git.runs_hooks()).then(|| "--no-checkout".into()));
        words.extend(["--".into(), path.into(), branch.into()]);
        self.git.run(&words).await?;
        if self.git.runs_hooks() {
            return Ok(());
        }
        let written = match self.name_repository(directory, branch) {
            Ok(()) => self.git.attempt(path, &["reset", "--hard", "--quiet"]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written.and_then(Ended::check) {
            let _ = self.remove(path, true).await;
            return Err(error);
        }
        Ok(())
    }

    /// Writes the real name of the repository to the file that a new worktree has: git knows that of the stand-in.
    fn name_repository(&self, directory: &Directory, name: &str) -> Result<(), ToolError> {
        let root = directory.location.root().dir();
        let worktree = root.open_dir(directory.location.path().join(name))?;
        let mut text = String::new();
        open_file(&worktree, ".git")?.take(MAX_LINK).read_to_string(&mut text)?;
        let id = text.trim_end().rsplit('/').next().unwrap_or_default();
        name::check(id)?;
        let common = repository::find(&self.workspace)?.common;
        let named = common.join("worktrees").join(id);
        // Renamed, so that a link that has taken the name is replaced and not followed.
        let temporary = format!(".git-{}", random::hex(16));
        let mut options = cap_std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = worktree.open_with(&temporary, &options)?;
        file.write_all(format!("gitdir: {}\n", named.display()).as_bytes())?;
        Ok(worktree.rename(&temporary, &worktree, ".git")?)
    }

    fn returned(
        &self,
        name: &str,
        entry: Entry,
        base: Option<&str>,
    ) -> Result<WorktreeOutput, ToolError> {
        if base.is_some() {
            return Err(ToolError::user(format!(
                "the worktree `{name}` exists already, so `base` cannot apply; choose another name, or leave `base` out"
            )));
        }
        if !entry.path.is_dir() {
            entry.check_unlocked(name)?;
            return Err(ToolError::user(format!(
                "the directory of the worktree `{name}` is gone; remove the worktree by `ExitWorktree` first"
            )));
        }
        Ok(WorktreeOutput {
            name: name.to_owned(),
            path: self.display_path(&self.directory()?, name),
            absolute_path: entry.path.display().to_string(),
            branch: entry.branch,
            commit: entry.head,
            base_commit: None,
            created: false,
        })
    }

    /// The full name of a commit.
    async fn commit(&self, revision: &str) -> Result<String, ToolError> {
        let wanted = format!("{revision}^{{commit}}");
        let found = match revision.starts_with('-') {
            true => None,
            false => Some(self.git.test(&["rev-parse", "--verify", "--quiet", &wanted]).await?),
        };
        match found {
            Some(found) if found.success => Ok(line(&found.stdout)),
            _ => Err(ToolError::user(format!(
                "`{revision}` is not a commit of the repository; give a branch, a tag or a commit"
            ))),
        }
    }
}
