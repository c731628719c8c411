//! The runners that live: those whose presence was heard within a lease, by this process's own clock.

use crate::board::{Board, Topic};
use crate::message::{self, Presence, Roll};
use crate::names::{Queue, RunnerId};
use crate::transition::Holder;
use crate::{BEAT, LEASE};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tool_runtime_core::seam::lock;

/// The time limit for the answer of a runner to a roll call.
const ROLL: Duration = Duration::from_secs(2);

/// The most runners of a queue that are known.
const MAX_RUNNERS: usize = 1000;

/// The runners that were heard.
#[derive(Debug)]
pub(crate) struct Roster {
    heard: Mutex<Heard>,
    changed: Notify,
}

#[derive(Debug)]
struct Heard {
    /// The time from which everything is heard: a runner that was never heard may live for a lease from then on.
    since: Instant,
    runners: HashMap<RunnerId, Seen>,
}

impl Heard {
    fn of_queue(&self, queue: &Queue) -> usize {
        self.runners.values().filter(|seen| seen.presence.queue == *queue).count()
    }
}

/// A runner that was heard.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) presence: Presence,
    /// The time of its last message.
    pub(crate) at: Instant,
}

impl Seen {
    /// Whether it lives.
    pub(crate) fn is_alive(&self) -> bool {
        !self.presence.gone && self.at.elapsed() < LEASE
    }

    /// Whether it claims jobs.
    pub(crate) fn serves(&self) -> bool {
        self.is_alive() && !self.presence.leaves
    }
}

impl Default for Roster {
    fn default() -> Self {
        let heard = Heard { since: Instant::now(), runners: HashMap::new() };
        Self { heard: Mutex::new(heard), changed: Notify::new() }
    }
}

impl Roster {
    /// Notes the presence of a runner. Returns what was known of it.
    ///
    /// # Errors
    /// There are too many runners.
    pub(crate) fn hear(&self, presence: Presence) -> Result<Option<Seen>, String> {
        let (id, seen) = (presence.runner.clone(), Seen { presence, at: Instant::now() });
        let mut heard = lock(&self.heard);
        if !heard.runners.contains_key(&id) && heard.of_queue(&seen.presence.queue) >= MAX_RUNNERS {
            heard.runners.retain(|_, seen| seen.is_alive());
            let queue = &seen.presence.queue;
            if heard.of_queue(queue) >= MAX_RUNNERS {
                return Err(format!(
                    "queue `{queue}` has more than {MAX_RUNNERS} runners; further ones are left out"
                ));
            }
        }
        let before = heard.runners.insert(id, seen);
        self.changed.notify_waiters();
        Ok(before)
    }

    /// Notes that presences may have been missed: every known runner gets a new lease.
    pub(crate) fn missed(&self) {
        let now = Instant::now();
        let mut heard = lock(&self.heard);
        heard.since = now;
        heard.runners.values_mut().filter(|seen| seen.is_alive()).for_each(|seen| seen.at = now);
    }

    /// Forgets runners that were not heard for a while.
    pub(crate) fn forget(&self, after: Duration) {
        lock(&self.heard).runners.retain(|_, seen| seen.at.elapsed() < after);
    }

    /// Whether a runner may live.
    pub(crate) fn may_live(&self, runner: &RunnerId) -> bool {
        let heard = lock(&self.heard);
        match heard.runners.get(runner) {
            Some(seen) => seen.is_alive(),
            None => heard.since.elapsed() < LEASE,
        }
    }

    /// Whether all runners that live were heard: each announces itself with every beat.
    pub(crate) fn knows_all(&self) -> bool {
        lock(&self.heard).since.elapsed() > BEAT + BEAT / 4
    }

    /// Whether a runner lives, for decisions about what it started.
    pub(crate) fn holder(&self, runner: &RunnerId) -> Holder {
        if self.may_live(runner) { Holder::Alive } else { Holder::Gone }
    }

    /// Makes sure that a runner is gone: it does not answer a roll call either.
    pub(crate) async fn is_gone(&self, runner: &RunnerId, board: &dyn Board) -> bool {
        let roll = message::write(&Roll::new(None));
        if self.may_live(runner) || board.send(&Topic::Roll, roll).await.is_err() {
            return false;
        }
        let answer = async {
            loop {
                let changed = self.changed.notified();
                if self.may_live(runner) {
                    return;
                }
                changed.await;
            }
        };
        timeout(ROLL, answer).await.is_err()
    }

    /// Whether a runner of a queue claims jobs.
    pub(crate) fn serves(&self, queue: &Queue) -> bool {
        lock(&self.heard)
            .runners
            .values()
            .any(|seen| seen.presence.queue == *queue && seen.serves())
    }

    /// All runners that were heard and not forgotten, by their ids.
    pub(crate) fn all(&self) -> Vec<Seen> {
        let mut all: Vec<Seen> = lock(&self.heard).runners.values().cloned().collect();
        all.sort_by(|a, b| a.presence.runner.cmp(&b.presence.runner));
        all
    }
}
