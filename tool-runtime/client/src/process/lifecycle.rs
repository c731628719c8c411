//! The lifecycle of a child, for the threads that end it and the futures that wait for it.

use super::exit::Exit;
use super::group::Group;
use rustix::process::Signal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tool_runtime_core::seam::lock;

/// More than any grace that makes sense; an `Instant` cannot be added to without end.
const LONGEST_GRACE: Duration = Duration::from_secs(60 * 60);

/// How long the dead may take to be dead. A process may be stuck in the kernel, where not even
/// `SIGKILL` finds it.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// The stack of threads that do little but wait. Only what is touched takes memory.
pub(super) const STACK: usize = 256 * 1024;

/// A child's life, from before its start.
#[derive(Debug)]
pub(super) struct Life {
    state: Mutex<State>,
    changed: Condvar,
    told: watch::Sender<Told>,
}

#[derive(Debug, Default)]
struct State {
    /// From the start until the leader is reaped: as long as its number is its own.
    group: Option<Group>,
    shutdown_deadlines: Option<ShutdownDeadlines>,
    is_terminated: bool,
}

/// What others may wait for.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// How the leader ended; the rest of its group may be there.
    exit: Option<Exit>,
    /// Nothing more will happen: all are gone, or it was never started, or it is stuck.
    is_over: bool,
}

/// When what is still there gets which signal.
#[derive(Clone, Copy, Debug)]
struct ShutdownDeadlines {
    terminate_at: Instant,
    kill_at: Instant,
}

impl ShutdownDeadlines {
    fn after(first: Duration, second: Duration) -> Self {
        let terminate_at = Instant::now() + first.min(LONGEST_GRACE);
        Self { terminate_at, kill_at: terminate_at + second.min(LONGEST_GRACE) }
    }
}

impl Life {
    pub(super) fn new() -> Arc<Self> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Arc::new(Self { state, changed, told: watch::Sender::new(Told::default()) })
    }

    /// The child runs.
    pub(super) fn begin(&self, group: Group) {
        self.lock().group = Some(group);
        self.changed.notify_all();
    }

    /// Lets the child go: after `grace` `SIGTERM`, after another `SIGKILL`. Its input has ended.
    ///
    /// Only the first time counts. Nothing is awaited here; a thread sees to it.
    pub(super) fn part(self: &Arc<Self>, grace: Duration) {
        if self.set_shutdown_deadlines(ShutdownDeadlines::after(grace, grace)) {
            let life = Arc::clone(self);
            let thread =
                thread::Builder::new().name("mcp-shutdown_deadlines".to_owned()).stack_size(STACK);
            if thread.spawn(move || life.escalate()).is_err() {
                // No thread is left that could be patient.
                self.signal(Signal::KILL);
            }
        }
    }

    /// Sends the leader off; whom it leaves behind is seen off by [`Life::clear`].
    fn escalate(&self) {
        let born = self
            .changed
            .wait_while(self.lock(), |state| state.group.is_none() && !self.told.borrow().is_over);
        let Some(shutdown_deadlines) =
            born.unwrap_or_else(PoisonError::into_inner).shutdown_deadlines
        else {
            return;
        };
        if !self.exits_by(shutdown_deadlines.terminate_at) {
            self.terminate();
        }
        if !self.exits_by(shutdown_deadlines.kill_at) {
            self.signal(Signal::KILL);
        }
        if !self.exits_by(Instant::now() + LAST_PATIENCE) {
            self.end();
        }
    }

    /// Sees off whom the leader, which has exited, left behind. A leader that went without being
    /// asked to has nobody who waits for the rest: they get `SIGTERM` at once.
    pub(super) fn clear(&self, group: Group, exit: Exit, grace: Duration) {
        self.tell(|told| told.exit = Some(exit));
        self.set_shutdown_deadlines(ShutdownDeadlines::after(Duration::ZERO, grace));
        let Some(shutdown_deadlines) = self.lock().shutdown_deadlines else { return };
        if group.is_empty_by(shutdown_deadlines.terminate_at) {
            return;
        }
        self.terminate();
        if !group.is_empty_by(shutdown_deadlines.kill_at) {
            group.signal(Signal::KILL);
            group.is_empty_by(Instant::now() + LAST_PATIENCE);
        }
    }

    /// Kills whoever is left and lets `reap` free the group's number, while nobody can signal it.
    pub(super) fn reap(&self, reap: impl FnOnce()) {
        let mut state = self.lock();
        if let Some(group) = state.group.take() {
            group.signal(Signal::KILL);
        }
        reap();
    }

    /// Nothing more will happen.
    pub(super) fn end(&self) {
        self.tell(|told| told.is_over = true);
    }

    /// How the leader ended, if it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.told.borrow().exit
    }

    /// Waits until the leader has exited; `None` if that will not be known.
    pub(super) async fn exited(&self) -> Option<Exit> {
        self.until(|told| told.exit.is_some() || told.is_over).await.exit
    }

    /// Waits until nothing more will happen.
    pub(super) async fn over(&self) {
        self.until(|told| told.is_over).await;
    }

    async fn until(&self, reached: impl FnMut(&Told) -> bool) -> Told {
        let mut told = self.told.subscribe();
        // The sender is ours, so that it is there.
        told.wait_for(reached).await.map(|told| *told).unwrap_or_default()
    }

    /// Gives `false` if there is one, or if it is too late for one.
    fn set_shutdown_deadlines(&self, shutdown_deadlines: ShutdownDeadlines) -> bool {
        let mut state = self.lock();
        let is_first = state.shutdown_deadlines.is_none() && !self.told.borrow().is_over;
        if is_first {
            state.shutdown_deadlines = Some(shutdown_deadlines);
        }
        is_first
    }

    /// Waits for the leader's exit.
    fn exits_by(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let is_there = |_: &mut State| {
            let told = *self.told.borrow();
            told.exit.is_none() && !told.is_over
        };
        let waited = self.changed.wait_timeout_while(self.lock(), left, is_there);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// `SIGTERM`, once: for some servers the second is a reason to drop everything.
    fn terminate(&self) {
        let is_first = !std::mem::replace(&mut self.lock().is_terminated, true);
        if is_first {
            self.signal(Signal::TERM);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.lock().group {
            group.signal(signal);
        }
    }

    fn tell(&self, change: impl FnOnce(&mut Told)) {
        let state = self.lock();
        self.told.send_modify(change);
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
