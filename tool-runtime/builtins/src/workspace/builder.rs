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
