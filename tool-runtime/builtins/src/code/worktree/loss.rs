//! Work that the removal of a worktree would destroy.

use super::git::{Git, line};
use super::list::Entry;
use crate::workspace::rendered;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use tool_runtime::ToolError;

/// Lines of each kind that are listed.
const LISTED: usize = 20;

/// Work that is only in a worktree.
#[derive(Debug, Default)]
pub(super) struct Loss {
    /// Changed files that are not committed.
    pub(super) changed: Vec<String>,
    /// Files whose changes git does not report, since `assume-unchanged` or `skip-worktree` is set. They may be unchanged.
    pub(super) concealed: Vec<String>,
    /// Files that git does not track, without those that it ignores.
    pub(super) untracked: Vec<String>,
    /// Commits that are on no other branch, remote branch or tag: at most one more than is listed.
    pub(super) commits: Vec<String>,
    pub(super) commit_count: usize,
    /// Submodules with repositories of their own, whose work is not looked at.
    pub(super) submodules: Vec<String>,
}

impl Loss {
    /// Looks at a worktree and at its branch.
    pub(super) async fn inspect(git: &Git, entry: &Entry, branch: &str) -> Result<Self, ToolError> {
        let mut loss = Self::default();
        if entry.path.exists() {
            loss.read_status(git, entry).await?;
            loss.read_concealed(git, entry).await?;
            loss.read_submodules(git, entry).await?;
        }
        loss.read_commits(git, entry, branch).await?;
        Ok(loss)
    }

    async fn read_status(&mut self, git: &Git, entry: &Entry) -> Result<(), ToolError> {
        let status = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let output = git.attempt(&entry.path, &status).await?.check()?;
        for record in output.split(|byte| *byte == 0).filter(|record| record.len() > 3) {
            let (kind, path) = record.split_at(3);
            let path = rendered(OsStr::from_bytes(path));
            if kind.starts_with(b"??") { &mut self.untracked } else { &mut self.changed }
                .push(path);
        }
        Ok(())
    }

    /// Reads the files that `git status` does not look at. Those outside a sparse checkout do not exist.
    async fn read_concealed(&mut self, git: &Git, entry: &Entry) -> Result<(), ToolError> {
        let listed = git.attempt(&entry.path, &["ls-files", "-v", "-z"]).await?;
        if !listed.success {
            // The list is longer than what is read: it has hundreds of thousands of files.
            return Ok(());
        }
        for record in listed.stdout.split(|byte| *byte == 0).filter(|record| record.len() > 2) {
            let (tag, path) = record.split_at(2);
            let is_concealed = tag[0].is_ascii_lowercase() || tag[0] == b'S';
            let file = entry.path.join(OsStr::from_bytes(path));
            if is_concealed && file.symlink_metadata().is_ok() {
                self.concealed.push(rendered(OsStr::from_bytes(path)));
            }
        }
        Ok(())
    }

    /// Reads the repositories of submodules, which belong to the worktree.
    async fn read_submodules(&mut self, git: &Git, entry: &Entry) -> Result<(), ToolError> {
        let own = git.attempt(&entry.path, &["rev-parse", "--absolute-git-dir"]).await?;
        let own = PathBuf::from(line(&own.check()?));
        let Ok(found) = std::fs::read_dir(own.join("modules")) else { return Ok(()) };
        let names = found.flatten().map(|entry| rendered(entry.file_name()));
        self.submodules = names.collect();
        self.submodules.sort();
        Ok(())
    }

    async fn read_commits(
        &mut self,
        git: &Git,
        entry: &Entry,
        branch: &str,
    ) -> Result<(), ToolError> {
        let own = branch_commit(git, branch).await?;
        let tips: Vec<String> = entry.head.iter().cloned().chain(own).collect();
        if tips.is_empty() {
            return Ok(());
        }
        let exclude = format!("--exclude={branch}");
        let others = ["--not", &exclude, "--branches", "--remotes", "--tags"];
        let revisions = |options: &[&str]| {
            let words = ["rev-list"].iter().chain(options).map(|word| (*word).to_owned());
            let words = words.chain(tips.iter().cloned());
            words.chain(others.iter().map(|word| (*word).to_owned())).collect::<Vec<String>>()
        };
        let count = line(&git.run(&revisions(&["--count"])).await?);
        self.commit_count = count.parse().unwrap_or(usize::MAX);
        if self.commit_count > 0 {
            let limit = format!("--max-count={LISTED}");
            let listed = git.run(&revisions(&["--oneline", &limit])).await?;
            self.commits = String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect();
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
            && self.concealed.is_empty()
            && self.untracked.is_empty()
            && self.commit_count == 0
            && self.submodules.is_empty()
    }

    /// A list for models. Ends with a line ending.
    pub(super) fn list(&self) -> String {
        let mut text = String::new();
        section(
            &mut text,
            "changed files that are not committed",
            &self.changed,
            self.changed.len(),
        );
        section(
            &mut text,
            "files whose changes git does not report (`git update-index --no-assume-unchanged --no-skip-worktree` ends that)",
            &self.concealed,
            self.concealed.len(),
        );
        section(&mut text, "files that git does not track", &self.untracked, self.untracked.len());
        section(
            &mut text,
            "commits that are not on another branch",
            &self.commits,
            self.commit_count,
        );
        section(
            &mut text,
            "submodules, whose own changes and commits were not looked at",
            &self.submodules,
            self.submodules.len(),
        );
        text
    }
}

fn section(text: &mut String, title: &str, lines: &[String], count: usize) {
    if count == 0 {
        return;
    }
    let _ = writeln!(text, "{count} {title}:");
    for line in lines.iter().take(LISTED) {
        let _ = writeln!(text, "  {line}");
    }
    if count > LISTED {
        let _ = writeln!(text, "  .. and {} more", count - LISTED);
    }
}

/// The commit of a branch, if the branch exists.
pub(super) async fn branch_commit(git: &Git, branch: &str) -> Result<Option<String>, ToolError> {
    let reference = format!("refs/heads/{branch}^{{commit}}");
    let found = git.test(&["rev-parse", "--verify", "--quiet", &reference]).await?;
    Ok(found.success.then(|| line(&found.stdout)))
}
