//! The lifecycle of a child, for the threads that end it and the futures that wait for it.

use super::exit::{Exit, ExitWatch};
use super::group::Group;
use rustix::process::Signal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tool_runtime_core::seam::lock;

/// Limit on a grace period: an `Instant` overflows.
const MAX_GRACE: Duration = Duration::from_secs(60 * 60);

/// Time for killed processes to disappear. `SIGKILL` does not reach a process that is stuck in the kernel.
/// Nothing is stuck in tests, whose machine may be busy.
const KILL_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 1 });

/// The stack of threads that mostly wait. Untouched pages take no memory.
pub(super) const STACK: usize = 256 * 1024;

/// A child's lifecycle, from before its start.
#[derive(Debug)]
pub(super) struct Lifecycle {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) exit: ExitWatch,
}

#[derive(Debug, Default)]
struct State {
    /// From the start until the leader is reaped, which frees the group id.
    group: Option<Group>,
    shutdown_deadlines: Option<ShutdownDeadlines>,
    is_terminated: bool,
}

/// The times of the signals for a group.
#[derive(Clone, Copy, Debug)]
struct ShutdownDeadlines {
    terminate_at: Instant,
    kill_at: Instant,
}

impl ShutdownDeadlines {
    fn after(first: Duration, second: Duration) -> Self {
        let terminate_at = Instant::now() + first.min(MAX_GRACE);
        Self { terminate_at, kill_at: terminate_at + second.min(MAX_GRACE) }
    }
}

impl Lifecycle {
    pub(super) fn new() -> Arc<Self> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Arc::new(Self { state, changed, exit: ExitWatch::default() })
    }

    /// Notes that the child runs.
    pub(super) fn begin(&self, group: Group) {
        self.lock().group = Some(group);
        self.changed.notify_all();
    }

    /// Sends `SIGTERM` after `grace` and `SIGKILL` after a second grace period, from a new thread. The child's
    /// input has ended. Only the first call counts.
    pub(super) fn begin_shutdown(self: &Arc<Self>, grace: Duration) {
        self.begin_shutdown_in_steps(grace, grace);
    }

    /// As [`Self::begin_shutdown`], with the time before each of the signals.
    pub(super) fn begin_shutdown_in_steps(self: &Arc<Self>, first: Duration, second: Duration) {
        if self.set_shutdown_deadlines(ShutdownDeadlines::after(first, second)) {
            let lifecycle = Arc::clone(self);
            let thread = thread::Builder::new().name("mcp-shutdown".to_owned()).stack_size(STACK);
            if thread.spawn(move || lifecycle.escalate()).is_err() {
                // Without the thread, the group is killed immediately.
                self.signal(Signal::KILL);
            }
        }
    }

    /// Ends the leader. [`Lifecycle::end_descendants`] ends the rest of its group.
    fn escalate(&self) {
        let is_starting = |state: &mut State| state.group.is_none() && !self.exit.is_over();
        let started = self.changed.wait_while(self.lock(), is_starting);
        let deadlines = started.unwrap_or_else(PoisonError::into_inner).shutdown_deadlines;
        let Some(deadlines) = deadlines else { return };
        if !self.exits_by(deadlines.terminate_at) {
            self.terminate();
        }
        if !self.exits_by(deadlines.kill_at) {
            self.signal(Signal::KILL);
        }
        if !self.exits_by(Instant::now() + KILL_TIMEOUT) {
            self.end();
        }
    }

    /// Ends the descendants of a leader that has exited. They get `SIGTERM` immediately if the leader exited
    /// on its own.
    pub(super) fn end_descendants(&self, group: Group, exit: Exit, grace: Duration) {
        self.publish(|watch| watch.set_exit(exit));
        self.set_shutdown_deadlines(ShutdownDeadlines::after(Duration::ZERO, grace));
        let Some(deadlines) = self.lock().shutdown_deadlines else { return };
        if group.is_empty_by(deadlines.terminate_at) {
            return;
        }
        self.terminate();
        if !group.is_empty_by(deadlines.kill_at) {
            group.signal(Signal::KILL);
            group.is_empty_by(Instant::now() + KILL_TIMEOUT);
        }
    }

    /// Kills the rest of the group and lets `reap` free the group id, under the lock of all signals.
    pub(super) fn reap(&self, reap: impl FnOnce()) {
        let mut state = self.lock();
        if let Some(group) = state.group.take() {
            group.signal(Signal::KILL);
        }
        reap();
    }

    /// Notes the end of the lifecycle.
    pub(super) fn end(&self) {
        self.publish(ExitWatch::set_over);
    }

    /// `false` if deadlines are set already, or the lifecycle has ended.
    fn set_shutdown_deadlines(&self, deadlines: ShutdownDeadlines) -> bool {
        let mut state = self.lock();
        let is_first = state.shutdown_deadlines.is_none() && !self.exit.is_over();
        if is_first {
            state.shutdown_deadlines = Some(deadlines);
        }
        is_first
    }

    /// Waits for the leader's exit.
    fn exits_by(&self, deadline: Instant) -> bool {
        let time_left = deadline.saturating_duration_since(Instant::now());
        let is_running = |_: &mut State| self.exit.exit().is_none() && !self.exit.is_over();
        let waited = self.changed.wait_timeout_while(self.lock(), time_left, is_running);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Sends `SIGTERM` once: some servers drop everything at a second one.
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

    fn publish(&self, change: impl FnOnce(&ExitWatch)) {
        let state = self.lock();
        change(&self.exit);
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
