//! Starts commands by a shell.

#[cfg(target_os = "linux")]
use super::before_exec;
use super::environment;
use super::params::ShellParams;
use crate::confine::Child;
use crate::process::{self, Spawned, Started};
use crate::workspace::{Environment, Workspace};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

/// Everything that the start of a command depends on.
#[derive(Clone)]
pub(super) struct Launcher {
    pub(super) workspace: Workspace,
    pub(super) params: ShellParams,
}

/// A command to start.
pub(super) struct Invocation {
    pub(super) command: String,
    /// The mark of its processes.
    pub(super) mark: String,
    pub(super) secrets: Environment,
}

impl Launcher {
    pub(super) fn new(workspace: Workspace, params: ShellParams) -> Self {
        Self { workspace, params }
    }

    /// Starts a shell with a command. Its input is empty.
    pub(super) async fn start(&self, invocation: Invocation) -> io::Result<Started> {
        let Invocation { command, mark, secrets } = invocation;
        let (program, arguments) = self.program()?;
        let mut child = Command::new(program);
        child
            .args(arguments)
            .args(["-c", "--", &command])
            .env_clear()
            .envs(environment::variables(&self.workspace, secrets, &mark, "dumb"))
            .current_dir(self.existing_directory()?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(target_os = "linux")]
        before_exec::prepare(&mut child, &self.params.limits);
        let confinement = self.workspace.confinement();
        process::start_marked(confinement, Child::Command, child, mark).await
    }

    /// The first root, where every command of `Bash` begins.
    pub(super) fn directory(&self) -> PathBuf {
        self.workspace.roots()[0].canonical_path().to_owned()
    }

    /// The first root, checked: it must still exist.
    ///
    /// # Errors
    /// A command has removed it.
    pub(super) fn existing_directory(&self) -> io::Result<PathBuf> {
        let directory = self.directory();
        if directory.is_dir() {
            return Ok(directory);
        }
        let text = format!("the working directory `{}` does not exist", directory.display());
        Err(io::Error::new(io::ErrorKind::NotFound, text))
    }

    /// The shell, or what starts it in a sandbox.
    pub(super) fn program(&self) -> io::Result<(PathBuf, Vec<OsString>)> {
        self.workspace.confinement().program(&Child::Command, self.params.shell.clone())
    }

    /// Starts a process of a terminal.
    pub(super) async fn start_on_thread<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> io::Result<T> + Send + 'static,
        id: impl Fn(&T) -> Option<u32> + Send + 'static,
        mark: String,
    ) -> io::Result<Spawned<T>> {
        let confinement = self.workspace.confinement();
        process::start_on_thread(confinement, Child::Command, start, id, mark).await
    }
}
