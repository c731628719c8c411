//! Assembles a workspace.

use super::{Clock, Environment, Protected, Root, Shared, SystemClock, Workspace, environment};
#[cfg(all(feature = "__processes", unix))]
use crate::confine::Confinement;
#[cfg(all(feature = "__processes", unix))]
use crate::sandbox::SandboxParams;
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
    passed: Vec<OsString>,
    #[cfg(all(feature = "__processes", unix))]
    sandbox: SandboxParams,
    git_settings: bool,
    protected: Vec<PathBuf>,
    clock: Option<Arc<dyn Clock>>,
    #[cfg(feature = "files")]
    unread_edits: bool,
    #[cfg(feature = "files")]
    partial_overwrites: bool,
}

impl WorkspaceBuilder {
    /// Adds a directory. The first is the working directory.
    pub fn root(mut self, path: impl Into<PathBuf>) -> Self {
        self.roots.push(path.into());
        self
    }

    /// Sets the environment of child processes. Default: of the variables of this process those that say where things
    /// are (`HOME`, `PATH`, `LANG`, `LC_*`, `XDG_*`, directories of toolchains, proxies without credentials, paths of
    /// certificates), and those of [`pass_variables`](Self::pass_variables). Others may be secrets.
    pub fn environment<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment = Some(variables.collect());
        self
    }

    /// Passes more variables of this process to child processes, by their names.
    pub fn pass_variables<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.passed.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets what confines the programs that tools start. Default: [`Sandbox::Off`](crate::Sandbox::Off).
    #[cfg(all(feature = "__processes", unix))]
    pub fn sandbox(mut self, params: SandboxParams) -> Self {
        self.sandbox = params;
        self
    }

    /// Sets whether tools for files may change git's directories, `.git`, and commands in bubblewrap the settings in
    /// them. Default: no, since settings of git name programs, which run when a person uses git later, outside any
    /// sandbox. Commands of git that change no settings work: `git commit`, `git switch`, `git merge`.
    pub fn git_settings(mut self, allowed: bool) -> Self {
        self.git_settings = allowed;
        self
    }

    /// Protects a file or a directory in a root, such as the directory in which this program keeps data: tools for files do
    /// not read, find or change it, and commands in bubblewrap do not read it. It may be created later. Of a symbolic link, the
    /// link and what it leads to are protected, also when it leads elsewhere later.
    pub fn protect(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
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

    /// Sets whether `Write` may replace a file of which only some lines were read. Default: no, since what the model did
    /// not read is lost. [`unread_edits`](Self::unread_edits) allows it as well.
    #[cfg(feature = "files")]
    pub fn partial_overwrites(mut self, allowed: bool) -> Self {
        self.partial_overwrites = allowed;
        self
    }

    /// Opens the roots.
    ///
    /// # Errors
    /// No root was added, or a directory cannot be opened.
    pub fn build(self) -> Result<Workspace, WorkspaceError> {
        if self.roots.is_empty() {
            return Err(WorkspaceError::NoRoot);
        }
        let absolute = |path: PathBuf| match std::path::absolute(&path) {
            Ok(absolute) => Ok(absolute),
            Err(source) => Err(WorkspaceError::Open { path, source }),
        };
        let protected = self.protected.into_iter().map(absolute).collect::<Result<_, _>>()?;
        let protected = Arc::new(Protected::new(self.git_settings, protected, &self.roots));
        let open = |path: PathBuf| match Root::open(&path, Arc::clone(&protected)) {
            Ok(root) => Ok(Arc::new(root)),
            Err(source) => Err(WorkspaceError::Open { path, source }),
        };
        let roots = self.roots.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let (environment, withheld_variables) = match self.environment {
            Some(environment) => (environment, 0),
            None => environment::passed(std::env::vars_os(), &self.passed),
        };
        Ok(Workspace(Arc::new(Shared {
            #[cfg(all(feature = "__processes", unix))]
            confinement: Arc::new(Confinement::new(self.sandbox, &roots, protected)),
            roots,
            environment,
            withheld_variables,
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            #[cfg(feature = "files")]
            unread_edits: self.unread_edits,
            #[cfg(feature = "files")]
            partial_overwrites: self.partial_overwrites,
            #[cfg(feature = "files")]
            files: crate::files::FileState::default(),
        })))
    }
}

/// The reason why a workspace could not be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// No root was added.
    #[error("a workspace needs a directory; write `.root(path)`")]
    NoRoot,
    /// A root, or a protected directory, cannot be opened.
    #[error("cannot open the directory `{}`: {source}", path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

tool_runtime::__private::debug_as_message!(WorkspaceError);
