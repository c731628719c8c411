//! Queues of jobs in memory, with leases.

use crate::board::{BoardError, Claim, Depth};
use crate::message::{self, Job};
use crate::names::{CallerName, Queue};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::StepId;
use tool_runtime_core::vocabulary::BoxFuture;

/// The most jobs of one caller that wait in a queue.
const MAX_QUEUED: usize = 1000;

/// The most bytes of these jobs.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// All queues.
#[derive(Debug)]
pub(super) struct Queues {
    lines: Mutex<HashMap<Queue, Arc<Line>>>,
    /// The time after which a claim that is not renewed lapses.
    lease: Duration,
}

/// One queue.
#[derive(Debug)]
struct Line {
    state: Mutex<State>,
    arrived: Notify,
    /// Held by the claim that is served next, so that claims are served in their order.
    turn: AsyncMutex<()>,
    lease: Duration,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    entries: HashMap<u64, Entry>,
    /// The entries of the rounds of steps.
    rounds: HashMap<(CallerName, StepId), BTreeMap<u32, u64>>,
    /// The entries that may be claimed.
    ready: Ready,
    /// The times at which entries change: a lease lapses, a delay ends.
    due: BTreeSet<(Instant, u64)>,
    /// The waiting jobs of each caller.
    waiting: HashMap<CallerName, Waiting>,
}

/// Jobs of a caller that wait.
#[derive(Debug, Default)]
struct Waiting {
    jobs: usize,
    bytes: usize,
}

/// Entries that may be claimed: those of each caller in order, one caller after the other.
#[derive(Debug, Default)]
struct Ready {
    of_callers: HashMap<CallerName, VecDeque<u64>>,
    /// The callers with entries, the next one first.
    turns: VecDeque<CallerName>,
}

impl Ready {
    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    fn queue_of(&mut self, caller: &CallerName) -> &mut VecDeque<u64> {
        if !self.of_callers.contains_key(caller) {
            self.turns.push_back(caller.clone());
        }
        self.of_callers.entry(caller.clone()).or_default()
    }

    fn push_back(&mut self, caller: &CallerName, number: u64) {
        self.queue_of(caller).push_back(number);
    }

    fn push_front(&mut self, caller: &CallerName, number: u64) {
        self.queue_of(caller).push_front(number);
    }

    fn pop(&mut self) -> Option<u64> {
        let caller = self.turns.pop_front()?;
        let entries = self.of_callers.get_mut(&caller)?;
        let number = entries.pop_front();
        match entries.is_empty() {
            true => drop(self.of_callers.remove(&caller)),
            false => self.turns.push_back(caller),
        }
        number
    }
}

#[derive(Debug)]
struct Entry {
    job: Arc<Job>,
    /// Bytes as JSON.
    size: usize,
    caller: CallerName,
    submitted: Instant,
    expires: Instant,
    /// The number of times that it was claimed.
    claims: u64,
    status: Status,
}

impl Entry {
    fn is_claimed(&self) -> bool {
        matches!(self.status, Status::Claimed(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Ready,
    /// Until this time.
    Delayed(Instant),
    /// Until its lease lapses.
    Claimed(Instant),
}

impl Queues {
    pub(super) fn new(lease: Duration) -> Self {
        Self { lines: Mutex::default(), lease }
    }

    fn line(&self, queue: &Queue) -> Arc<Line> {
        let mut lines = lock(&self.lines);
        let line = lines.entry(queue.clone()).or_insert_with(|| {
            Arc::new(Line {
                state: Mutex::default(),
                arrived: Notify::new(),
                turn: AsyncMutex::default(),
                lease: self.lease,
            })
        });
        Arc::clone(line)
    }

    pub(super) fn submit(
        &self,
        queue: &Queue,
        job: &Job,
        caller: &CallerName,
        keep: Duration,
    ) -> Result<(), BoardError> {
        let line = self.line(queue);
        if lock(&line.state).submit(job, caller, keep)? {
            line.arrived.notify_one();
        }
        Ok(())
    }

    /// The queues with jobs.
    pub(super) fn in_use(&self) -> Vec<Queue> {
        let lines: Vec<_> =
            lock(&self.lines).iter().map(|(q, l)| (q.clone(), Arc::clone(l))).collect();
        let has_jobs = |line: &Line| {
            let mut state = lock(&line.state);
            state.advance();
            !state.entries.is_empty()
        };
        let mut queues: Vec<Queue> =
            lines.into_iter().filter(|(_, line)| has_jobs(line)).map(|(queue, _)| queue).collect();
        queues.sort();
        queues
    }

    pub(super) fn depth(&self, queue: &Queue) -> Depth {
        let Some(line) = lock(&self.lines).get(queue).cloned() else { return Depth::default() };
        let mut state = lock(&line.state);
        state.advance();
        let claimed = state.entries.values().filter(|entry| entry.is_claimed()).count();
        let waiting = state.entries.values().filter(|entry| !entry.is_claimed());
        let oldest = waiting.map(|entry| entry.submitted.elapsed()).max();
        Depth {
            queued: (state.entries.len() - claimed) as u64,
            claimed: claimed as u64,
            oldest: oldest.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// Waits for jobs and claims up to `max`, at least one.
///
/// Claims are served in the order in which they began. In any other order, a runner that gives a job back could claim it
/// again each time, before the runner that has its tool.
pub(super) async fn claim(queues: &Queues, queue: &Queue, max: usize) -> Vec<Box<dyn Claim>> {
    let line = queues.line(queue);
    let _turn = line.turn.lock().await;
    loop {
        let arrived = line.arrived.notified();
        let (claimed, next) = {
            let mut state = lock(&line.state);
            let claimed = state.claim(&line, max.max(1));
            (claimed, state.due.first().map(|(at, _)| *at))
        };
        if !claimed.is_empty() {
            return claimed;
        }
        match next {
            // Early or late: the entries are looked at again.
            Some(at) => drop(timeout_at(at, arrived).await),
            None => arrived.await,
        }
    }
}

impl State {
    /// Returns whether the job is new.
    fn submit(
        &mut self,
        job: &Job,
        caller: &CallerName,
        keep: Duration,
    ) -> Result<bool, BoardError> {
        self.advance();
        let step = (caller.clone(), job.step.clone());
        if self.rounds.get(&step).is_some_and(|rounds| rounds.contains_key(&job.round)) {
            return Ok(false);
        }
        let size = message::write(job).len();
        self.check_room(caller, size)?;
        let (number, now) = (self.next, Instant::now());
        self.next += 1;
        let entry = Entry {
            job: Arc::new(job.clone()),
            size,
            caller: caller.clone(),
            submitted: now,
            expires: now + keep,
            claims: 0,
            status: Status::Ready,
        };
        self.due.insert((entry.expires, number));
        self.entries.insert(number, entry);
        self.rounds.entry(step).or_default().insert(job.round, number);
        self.ready.push_back(caller, number);
        self.waits(number);
        Ok(true)
    }

    fn check_room(&self, caller: &CallerName, size: usize) -> Result<(), BoardError> {
        let Some(Waiting { jobs, bytes }) = self.waiting.get(caller) else { return Ok(()) };
        if *jobs < MAX_QUEUED && bytes + size <= MAX_BYTES {
            return Ok(());
        }
        let text = format!("{jobs} calls of `{caller}` ({bytes} bytes) wait in the queue already");
        Err(BoardError::Full(text))
    }

    fn claim(&mut self, line: &Arc<Line>, max: usize) -> Vec<Box<dyn Claim>> {
        self.advance();
        let mut claimed: Vec<Box<dyn Claim>> = Vec::new();
        while claimed.len() < max {
            let Some(number) = self.ready.pop() else { break };
            let Some(entry) = self.entries.get_mut(&number) else { continue };
            if entry.status != Status::Ready {
                continue;
            }
            let lapses = Instant::now() + line.lease;
            entry.status = Status::Claimed(lapses);
            entry.claims += 1;
            claimed.push(Box::new(Delivery {
                line: Arc::downgrade(line),
                number,
                claim: entry.claims,
                job: Arc::clone(&entry.job),
                caller: entry.caller.clone(),
            }));
            self.due.insert((lapses, number));
            self.waits_no_more(number);
        }
        // Others may wait for the rest.
        if !self.ready.is_empty() {
            line.arrived.notify_one();
        }
        claimed
    }

    /// Counts a job that waits.
    fn waits(&mut self, number: u64) {
        let Some(entry) = self.entries.get(&number) else { return };
        let waiting = self.waiting.entry(entry.caller.clone()).or_default();
        waiting.jobs += 1;
        waiting.bytes += entry.size;
    }

    /// Counts a job that waited until now.
    fn waits_no_more(&mut self, number: u64) {
        let Some(entry) = self.entries.get(&number) else { return };
        let Some(waiting) = self.waiting.get_mut(&entry.caller) else { return };
        waiting.jobs -= 1;
        waiting.bytes -= entry.size;
        if waiting.jobs == 0 {
            self.waiting.remove(&entry.caller);
        }
    }

    /// Ends leases, delays and jobs whose time has come.
    fn advance(&mut self) {
        let now = Instant::now();
        while let Some(&(at, number)) = self.due.first() {
            if at > now {
                break;
            }
            self.due.pop_first();
            let Some(entry) = self.entries.get_mut(&number) else { continue };
            match entry.status {
                // A claimed job outlives its time in the queue.
                Status::Claimed(lapses) if lapses > now => drop(self.due.insert((lapses, number))),
                Status::Delayed(until) if until > now && entry.expires > now => {
                    self.due.insert((until.min(entry.expires), number));
                }
                _ if entry.expires <= now => self.remove(number),
                Status::Claimed(_) => {
                    self.put_back(number);
                    self.waits(number);
                }
                Status::Delayed(_) => self.put_back(number),
                Status::Ready => {}
            }
        }
    }

    /// Puts a job at the front, where it was.
    fn put_back(&mut self, number: u64) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.status = Status::Ready;
        self.due.insert((entry.expires, number));
        self.ready.push_front(&entry.caller, number);
    }

    fn remove(&mut self, number: u64) {
        if !self.entries.get(&number).is_some_and(Entry::is_claimed) {
            self.waits_no_more(number);
        }
        let Some(entry) = self.entries.remove(&number) else { return };
        let step = (entry.caller, entry.job.step.clone());
        if let Some(rounds) = self.rounds.get_mut(&step) {
            rounds.remove(&entry.job.round);
            if rounds.is_empty() {
                self.rounds.remove(&step);
            }
        }
    }

    /// The entry of a claim that has not lapsed.
    fn claimed(&mut self, number: u64, claim: u64) -> Result<&mut Entry, BoardError> {
        self.advance();
        let entry = self.entries.get_mut(&number).filter(|entry| entry.claims == claim);
        entry.filter(|entry| entry.is_claimed()).ok_or(BoardError::Lapsed)
    }
}

/// A claim of a job of this process.
#[derive(Debug)]
struct Delivery {
    line: Weak<Line>,
    number: u64,
    /// The number of the claim of the job.
    claim: u64,
    job: Arc<Job>,
    caller: CallerName,
}

impl Delivery {
    fn change<T>(
        &self,
        change: impl FnOnce(&mut State, Duration) -> Result<T, BoardError>,
    ) -> Result<T, BoardError> {
        let line = self.line.upgrade().ok_or(BoardError::Lapsed)?;
        let changed = change(&mut lock(&line.state), line.lease);
        line.arrived.notify_one();
        changed
    }
}

impl Claim for Delivery {
    fn job(&self) -> &Job {
        &self.job
    }

    fn caller(&self) -> &CallerName {
        &self.caller
    }

    fn is_repeated(&self) -> bool {
        self.claim > 1
    }

    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async {
            self.change(|state, lease| {
                state.claimed(self.number, self.claim)?.status =
                    Status::Claimed(Instant::now() + lease);
                Ok(())
            })
        })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async {
            self.change(|state, _| {
                state.claimed(self.number, self.claim)?;
                state.remove(self.number);
                Ok(())
            })
        })
    }

    fn later(&self, delay: Duration) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async move {
            self.change(|state, _| {
                let until = Instant::now() + delay;
                state.claimed(self.number, self.claim)?.status = Status::Delayed(until);
                state.due.insert((until, self.number));
                state.waits(self.number);
                Ok(())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Digest, Json, Payload};
    use crate::random;
    use serde_json::json;

    #[tokio::test]
    async fn a_queue_is_full_by_the_size_of_its_jobs_too() {
        let (queues, queue) = (Queues::new(Duration::from_secs(16)), "web".parse().unwrap());
        let caller = "pool1".parse().unwrap();
        let arguments = Payload::Inline(Json::from_value(&json!({ "text": "x".repeat(250_000) })));
        let submit = || {
            let job = Job::new(random::step(), "read", Digest::from_bytes(b""), arguments.clone());
            queues.submit(&queue, &job, &caller, Duration::from_secs(60))
        };
        let queued = (0..MAX_QUEUED).take_while(|_| submit().is_ok()).count();
        assert_eq!(queued, MAX_BYTES / 250_000);
        claim(&queues, &queue, 1).await;
        assert_eq!(submit(), Ok(()), "a claimed job does not wait");
        assert!(matches!(submit(), Err(BoardError::Full(_))));
    }
}
