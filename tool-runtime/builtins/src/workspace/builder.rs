//! Assembles a workspace.

use super::{Clock, Environment, Root, Shared, SystemClock, Workspace};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Assembles a [`Workspace`].
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct WorkspaceBuilder {
    roots: Vec<PathBuf>,
    environment: Option<Environment>,
    clock: Option<Arc<dyn Clock>>,
    #[cfg(feature = "files")]
    unread_edits: bool,
}

impl WorkspaceBuilder {
    /// Adds a directory. The first is the working directory.
    pub fn root(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots.push(path.into());
        self
    }

    /// Sets the environment of child processes. Default: that of this process when the workspace is built.
    pub fn environment<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment = Some(variables.collect());
        self
    }

    /// Sets the clock. Default: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets whether files may be replaced and edited that were not read. Default: no, since a model that has not read a
    /// file does not know what it overwrites. It is for calls of a person, whose command line starts a process for each.
    /// A file that was read must still be unchanged.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("a.txt"), "one")?;
    /// let workspace = Workspace::builder().root(folder.path()).unread_edits(true).build()?;
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).files()).build()?;
    /// let edit = r#"{"file_path": "a.txt", "old_string": "one", "new_string": "two"}"#;
    /// assert!(!pool.call(ToolCall::new("Edit", edit)).await.is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "files")]
    pub fn unread_edits(mut self, allowed: bool) -> Self {
        self.unread_edits = allowed;
        self
    }

    /// Opens the roots.
    ///
    /// # Errors
    /// No root was added, or one is not a directory that can be opened.
    pub fn build(self) -> Result<Workspace, WorkspaceError> {
        if self.roots.is_empty() {
            return Err(WorkspaceError::NoRoot);
        }
        let open = |path: PathBuf| match Root::open(&path) {
            Ok(root) => Ok(Arc::new(root)),
            Err(source) => Err(WorkspaceError::Open { path, source }),
        };
        Ok(Workspace(Arc::new(Shared {
            roots: self.roots.into_iter().map(open).collect::<Result<_, _>>()?,
            environment: self.environment.unwrap_or_else(|| std::env::vars_os().collect()),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            #[cfg(feature = "files")]
            unread_edits: self.unread_edits,
            #[cfg(feature = "files")]
            files: crate::files::FileState::default(),
        })))
    }
}

/// The reason why a workspace could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// No root was added.
    #[error("a workspace needs a directory; write `.root(path)`")]
    NoRoot,
    /// A root cannot be opened.
    #[error("cannot open the root `{}`: {source}", path.display())]
    Open {
        /// The root.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}
