//! Watches polls of user code from a separate thread, and logs those that block.

use crate::vocabulary::sync::lock;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Interval of the checks while polls are in progress.
const INTERVAL: Duration = Duration::from_millis(5);

/// Checks without a poll in progress after which the thread sleeps.
const IDLE_ROUNDS: u32 = 200;

/// Limit on the names that are kept. Further ones are polled like code that may block.
const MAX_BRIEF: usize = 10_000;

/// Duration after which a poll is logged.
const REPORTED_AFTER: Duration = Duration::from_secs(1);

/// User code whose polls are watched.
pub trait Watched: Send + Sync {
    /// The name in the log.
    fn name(&self) -> &str;

    /// Called from the watchdog's thread, inside the runtime, when one poll takes longer than
    /// 5 ms, once per poll.
    fn blocked(self: Arc<Self>) {}
}

/// The polls in progress, and the thread that watches them.
pub(super) struct Watchdog {
    table: Arc<Table>,
    thread: OnceLock<Thread>,
}

/// Slots for polls. The first `direct` ones are for polls that run on their worker.
struct Table {
    direct: usize,
    slots: Box<[Entry]>,
    is_asleep: AtomicBool,
    /// Names of the user code whose last poll was short.
    brief: RwLock<HashSet<Box<str>>>,
}

#[derive(Default)]
struct Entry {
    is_taken: AtomicBool,
    poll: Mutex<Option<UserPoll>>,
}

struct UserPoll {
    watched: Arc<dyn Watched>,
    since: Instant,
    /// Another worker was woken, in case this one had the I/O driver, and the block was reported.
    is_covered: bool,
    is_reported: bool,
}

/// Registers a poll in progress, until this is dropped.
pub(super) struct WatchedPoll<'a> {
    table: &'a Table,
    entry: &'a Entry,
    is_brief: bool,
    is_direct: bool,
}

impl Watchdog {
    /// Starts the thread, which ends when this is dropped. Without a thread, user code that blocks may
    /// delay the server and is not named.
    pub(super) fn start(runtime: &Handle, direct: usize, slots: usize) -> Self {
        let table = Arc::new(Table {
            direct,
            slots: (0..slots).map(|_| Entry::default()).collect(),
            is_asleep: AtomicBool::new(false),
            brief: RwLock::default(),
        });
        let (weak, runtime) = (Arc::downgrade(&table), runtime.clone());
        let started = thread::Builder::new()
            .name("tool-watchdog".to_owned())
            .spawn(move || watch(&weak, &runtime));
        let thread = OnceLock::new();
        match started {
            Ok(started) => drop(thread.set(started.thread().clone())),
            Err(error) => tracing::warn!(%error, "tools that block their thread are not detected"),
        }
        Self { table, thread }
    }

    /// Records a poll. `None` if all slots are taken.
    pub(super) fn begin(&self, watched: &Arc<dyn Watched>) -> Option<WatchedPoll<'_>> {
        let is_brief = self.table.is_brief(watched.name());
        let index = self.table.take_slot(is_brief)?;
        let entry = &self.table.slots[index];
        *entry.poll() = Some(UserPoll {
            watched: Arc::clone(watched),
            since: Instant::now(),
            is_covered: false,
            is_reported: false,
        });
        if self.table.is_asleep.load(Ordering::SeqCst) {
            self.wake();
        }
        let is_direct = is_brief && index < self.table.direct;
        Some(WatchedPoll { table: &self.table, entry, is_brief, is_direct })
    }

    #[cold]
    fn wake(&self) {
        if self.table.is_asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Entry {
    fn take(&self) -> bool {
        !self.is_taken.load(Ordering::Relaxed) && !self.is_taken.swap(true, Ordering::SeqCst)
    }

    fn poll(&self) -> MutexGuard<'_, Option<UserPoll>> {
        lock(&self.poll)
    }
}

impl WatchedPoll<'_> {
    /// Whether the poll runs on its worker.
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }
}

impl Drop for WatchedPoll<'_> {
    fn drop(&mut self) {
        let poll = self.entry.poll().take();
        self.entry.is_taken.store(false, Ordering::SeqCst);
        let Some(poll) = poll else { return };
        if !self.is_brief && poll.since.elapsed() < INTERVAL {
            self.table.add_brief(poll.watched.name());
        }
        if poll.is_reported {
            let blocked_for = poll.since.elapsed();
            let name = poll.watched.name();
            tracing::warn!(name, ?blocked_for, "`{name}` no longer blocks its thread");
        }
    }
}

/// Runs the thread.
fn watch(table: &Weak<Table>, runtime: &Handle) {
    let mut idle = 0;
    while let Some(table) = table.upgrade() {
        idle = if table.look(runtime) { 0 } else { idle + 1 };
        if idle < IDLE_ROUNDS {
            drop(table);
            thread::park_timeout(INTERVAL);
        } else {
            table.is_asleep.store(true, Ordering::SeqCst);
            let is_idle = !table.is_busy();
            drop(table);
            if is_idle {
                thread::park();
            }
            idle = 0;
        }
    }
}

impl Table {
    /// Takes a free slot. Code that may block leaves the first ones to other code.
    fn take_slot(&self, is_brief: bool) -> Option<usize> {
        let later = || (self.direct..self.slots.len()).find(|index| self.slots[*index].take());
        let first = || (0..self.direct).find(|index| self.slots[*index].take());
        match is_brief {
            true => first().or_else(later),
            false => later().or_else(first),
        }
    }

    fn is_brief(&self, name: &str) -> bool {
        self.brief.read().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    #[cold]
    fn add_brief(&self, name: &str) {
        let mut brief = self.brief.write().unwrap_or_else(PoisonError::into_inner);
        if brief.len() < MAX_BRIEF {
            brief.insert(name.into());
        }
    }

    fn remove_brief(&self, name: &str) {
        self.brief.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn is_busy(&self) -> bool {
        self.slots.iter().any(|slot| slot.is_taken.load(Ordering::SeqCst))
    }

    /// Whether any poll is in progress.
    fn look(&self, runtime: &Handle) -> bool {
        let mut is_busy = false;
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.is_taken.load(Ordering::SeqCst) {
                is_busy = true;
                self.examine(index < self.direct, slot, runtime);
            }
        }
        is_busy
    }

    fn examine(&self, is_direct: bool, slot: &Entry, runtime: &Handle) {
        let mut poll = slot.poll();
        let Some(poll) = &mut *poll else { return };
        let age = poll.since.elapsed();
        if !poll.is_covered && age >= INTERVAL {
            poll.is_covered = true;
            self.remove_brief(poll.watched.name());
            if is_direct {
                // A task from outside wakes a worker, which then waits for I/O and timers.
                drop(runtime.spawn(std::future::ready(())));
            }
            let _runtime = runtime.enter();
            Arc::clone(&poll.watched).blocked();
        }
        if !poll.is_reported && age >= REPORTED_AFTER {
            poll.is_reported = true;
            let name = poll.watched.name();
            tracing::warn!(
                name,
                "`{name}` blocks its thread; make it a plain `fn`, or do the work in `tokio::task::spawn_blocking`"
            );
        }
    }
}
