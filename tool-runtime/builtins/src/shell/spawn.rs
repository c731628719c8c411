//! Starts commands: in a session of their own, marked, and confined by the operator's choice.
//!
//! Each process is started by a thread of its own, which lives as long as the process and its orphans: Landlock restricts a thread, and
//! the kernel signals the death of a parent when the thread that started the child ends.

#[cfg(target_os = "linux")]
use super::before_exec;
use super::environment;
use super::params::{Sandbox, ShellParams};
use super::sandbox::{self, Confinement};
use crate::process_tree::{KillOnDrop, Tree};
use crate::workspace::{Environment, Workspace};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Time between two looks whether the owner of a child has waited for it.
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Everything that the start of a command depends on.
#[derive(Clone)]
pub(super) struct Launcher {
    pub(super) workspace: Workspace,
    pub(super) params: ShellParams,
    confinement: Arc<Confinement>,
}

/// A command to start.
pub(super) struct Invocation {
    pub(super) command: String,
    /// The mark of its processes.
    pub(super) mark: String,
    pub(super) secrets: Environment,
}

/// A process that was started. Without its owner all that it started is ended, before the process itself is: it adopts
/// the orphans, by which they are found.
pub(super) struct Spawned<T> {
    pub(super) tree: KillOnDrop,
    pub(super) child: T,
}

/// A command that runs.
pub(super) struct Started {
    pub(super) child: Box<dyn ChildWrapper>,
    pub(super) tree: Tree,
    /// Whether the process is the program of a sandbox, which starts the shell.
    pub(super) is_wrapped: bool,
}

impl Launcher {
    pub(super) fn new(workspace: Workspace, params: ShellParams) -> Self {
        let confinement = Arc::new(Confinement::new(&workspace, &params));
        Self { workspace, params, confinement }
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
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(target_os = "linux")]
        before_exec::prepare(&mut child);
        let mut child = CommandWrap::from(child);
        child.wrap(ProcessSession);
        // The wrapper waits for the whole session; a background process must not delay the result.
        let start = move || Ok(child.spawn()?.into_inner());
        let spawned = self.start_on_thread(start, |child| child.id(), mark.clone()).await?;
        let Spawned { child, tree } = spawned;
        let leader = tree.leader();
        tree.disarm();
        let is_wrapped = self.params.sandbox == Sandbox::Bubblewrap;
        Ok(Started { child, tree: Tree { leader, mark }, is_wrapped })
    }

    /// The first root, where every command of `Bash` begins.
    pub(super) fn directory(&self) -> PathBuf {
        self.workspace.roots()[0].canonical_path().to_owned()
    }

    /// The same directory.
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
        self.confinement.program(self.params.shell.clone())
    }

    /// Starts a process with a mark on a thread that Landlock restricts, if it is to confine commands. If the call is
    /// dropped meanwhile, the process and all that it started are ended.
    pub(super) async fn start_on_thread<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> io::Result<T> + Send + 'static,
        id: impl Fn(&T) -> Option<u32> + Send + 'static,
        mark: String,
    ) -> io::Result<Spawned<T>> {
        let runtime = tokio::runtime::Handle::current();
        let confinement = Arc::clone(&self.confinement);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::Builder::new().name("command".to_owned()).spawn(move || {
            let started = {
                let _runtime = runtime.enter();
                sandbox::restrict_thread(&confinement).and_then(|()| start())
            };
            let started = started.map(|child| {
                let leader = id(&child).and_then(|id| Pid::from_raw(id.cast_signed()));
                Spawned { tree: KillOnDrop(Some(Tree { leader, mark })), child }
            });
            let id = started.as_ref().ok().and_then(|started| started.tree.leader());
            // Fails only if the call was dropped.
            let _ = sender.send(started);
            id.into_iter().for_each(wait);
        })?;
        receiver.await.map_err(io::Error::other)?
    }
}

/// Waits for the end of a child, which its owner waits for, too, and then for orphans of its group: they are children of
/// this process if it is a `Subreaper`, and would stay zombies.
fn wait(id: Pid) {
    let looks = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(id), looks).is_err_and(|error| error == Errno::INTR) {}
    let mut pause = MIN_PAUSE;
    while waitid(WaitId::Pid(id), looks | WaitIdOptions::NOHANG).is_ok() {
        std::thread::sleep(pause);
        pause = (2 * pause).min(MAX_PAUSE);
    }
    let waits = || waitid(WaitId::Pgid(Some(id)), WaitIdOptions::EXITED);
    while waits().map_or_else(|error| error == Errno::INTR, |_| true) {}
}
