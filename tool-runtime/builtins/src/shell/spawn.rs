//! Starts commands: in a session of their own, marked, and confined by the operator's choice.

use super::environment;
use super::params::{Sandbox, ShellParams};
use super::sandbox::{self, Confinement};
use crate::process_tree::Tree;
use crate::workspace::{Environment, Workspace};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::Pid;
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

/// A command that runs.
pub(super) struct Started {
    pub(super) child: Box<dyn ChildWrapper>,
    pub(super) tree: Tree,
}

impl Launcher {
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
            .current_dir(self.directory())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = CommandWrap::from(child);
        child.wrap(ProcessSession);
        // The wrapper waits for the whole session; a background process must not delay the result.
        let child = self.confined(move || child.spawn()).await?.into_inner();
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Started { child, tree: Tree { leader: id, mark } })
    }

    /// The first root, where every command of `Bash` begins.
    pub(super) fn directory(&self) -> PathBuf {
        self.workspace.roots()[0].canonical_path().to_owned()
    }

    /// The shell, or what starts it in a sandbox.
    pub(super) fn program(&self) -> io::Result<(PathBuf, Vec<OsString>)> {
        let shell = self.params.shell.clone();
        if self.params.sandbox != Sandbox::Bubblewrap {
            return Ok((shell, Vec::new()));
        }
        let program =
            sandbox::bubblewrap().ok_or_else(|| io::Error::other("`bwrap` is missing"))?;
        let arguments = sandbox::bubblewrap_arguments(&self.confinement());
        Ok((program, arguments.into_iter().chain([shell]).map(OsString::from).collect()))
    }

    fn confinement(&self) -> Confinement {
        let roots = self.workspace.roots().iter().map(|root| root.canonical_path().to_owned());
        let others = self.params.writable.iter().cloned().chain([std::env::temp_dir()]);
        Confinement { writable: roots.chain(others).collect(), network: self.params.network }
    }

    /// Runs a start on a restricted thread, if Landlock is to confine commands.
    #[cfg(target_os = "linux")]
    pub(super) async fn confined<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        if self.params.sandbox != Sandbox::Landlock {
            return start();
        }
        let (runtime, confinement) = (tokio::runtime::Handle::current(), self.confinement());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            let _runtime = runtime.enter();
            // Fails only if the call was dropped; the child ends with its handle then.
            let _ = sender.send(sandbox::restrict_thread(&confinement).and_then(|()| start()));
        })?;
        receiver.await.map_err(io::Error::other)?
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) async fn confined<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        start()
    }
}
