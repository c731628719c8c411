//! Programs that the tools start: in sessions of their own, marked, and confined by the operator's choice.
//!
//! Each process is started by a thread of its own, which lives as long as the process and its orphans: Landlock and
//! seccomp restrict a thread, and the kernel signals the death of a parent when the thread that started the child ends.

use crate::confine::{Child, Confinement};
use crate::process_tree::{KillOnDrop, MARK, Tree};
use crate::random;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Time between two looks whether the owner of a child has waited for it.
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// A program that runs, as the leader of a session.
pub(crate) struct Started {
    pub(crate) child: Box<dyn ChildWrapper>,
    pub(crate) tree: Tree,
}

/// A process that was started. Without its owner all that it started is ended, before the process itself is: it adopts
/// the orphans, by which they are found.
pub(crate) struct Spawned<T> {
    pub(crate) tree: KillOnDrop,
    pub(crate) child: T,
}

/// Starts a program in a session of its own, by which all its descendants are found.
///
/// # Errors
/// The program does not start, or cannot be confined.
pub(crate) async fn start(
    confinement: &Arc<Confinement>,
    child: Child,
    command: Command,
) -> io::Result<Started> {
    start_marked(confinement, child, command, format!("{}.", random::hex(16))).await
}

/// Starts a program whose processes carry this mark in their environment.
pub(crate) async fn start_marked(
    confinement: &Arc<Confinement>,
    child: Child,
    mut command: Command,
    mark: String,
) -> io::Result<Started> {
    command.env(MARK, &mark).kill_on_drop(true);
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessSession);
    // The wrapper would wait for the whole session.
    let start = move || Ok(command.spawn()?.into_inner());
    let spawned = start_on_thread(confinement, child, start, |it| it.id(), mark.clone()).await?;
    let Spawned { child, tree } = spawned;
    let leader = tree.leader();
    tree.disarm();
    Ok(Started { child, tree: Tree { leader, mark } })
}

/// Starts a process with a mark on a thread that is restricted, if it is to be confined. If the call is dropped meanwhile,
/// the process and all that it started are ended.
pub(crate) async fn start_on_thread<T: Send + 'static>(
    confinement: &Arc<Confinement>,
    child: Child,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
    id: impl Fn(&T) -> Option<u32> + Send + 'static,
    mark: String,
) -> io::Result<Spawned<T>> {
    let runtime = tokio::runtime::Handle::current();
    let confinement = Arc::clone(confinement);
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        let started = {
            let _runtime = runtime.enter();
            confinement.restrict_thread(&child).and_then(|()| start())
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
