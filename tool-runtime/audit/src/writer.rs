//! The thread that writes. Calls put events into its queue; it wakes up, takes all of them, and appends them
//! in one transaction.

use crate::backend::LogBackend;
use crate::chain::{Head, LogLine};
use crate::encode::Encoder;
use crate::error::LogError;
use crate::event::{Event, now_us};
use crate::record::{LogRecord, RecordKind};
use crate::retention::Retention;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tool_runtime_core::govern::RecordError;
use tool_runtime_core::seam::lock;

/// The most bytes of events that wait before calls wait for them.
pub(crate) const MAX_QUEUED_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };
/// The most records that are kept while the log cannot be written. Tests lose some.
const MAX_UNWRITTEN: usize = if cfg!(test) { 32 } else { 65_536 };
/// The records after which a transaction ends, although more events wait. Larger ones would not stay in the
/// caches of the processor.
const MAX_TRANSACTION: usize = 2048;
/// The most items for which an empty queue keeps its memory.
const MAX_KEPT_ITEMS: usize = 16_384;
/// The pause between attempts to write after a failure.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// An answer to a call that waits until its events are written.
pub(crate) type Waiter = oneshot::Sender<Result<(), RecordError>>;
/// Work for the thread, after all events before it. Gets the error if those cannot be written.
pub(crate) type Job = Box<dyn FnOnce(&mut LogThread, Result<(), LogError>) + Send>;

/// A part of the queue.
pub(crate) enum Item {
    Event(Event, Option<Waiter>),
    Job(Job),
}

/// The queue, shared with the handles of the log.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// Whether the log cannot be written.
    pub(crate) is_failing: AtomicBool,
}

#[derive(Default)]
struct QueueState {
    items: Vec<Item>,
    bytes: usize,
    is_urgent: bool,
    is_closed: bool,
    /// Whether the thread has ended.
    is_ended: bool,
    /// Whether the thread waits for the first item, without a time.
    is_idle: bool,
    /// The error, while the log cannot be written.
    error: Option<LogError>,
    /// Events that were given up, because the queue was full while the log could not be written.
    lost: u64,
    status: LogStatus,
}

/// The state of a log.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LogStatus {
    /// The number of records that were written by this handle and its clones.
    pub written: u64,
    /// The number of records that wait after a failure.
    pub unwritten: u64,
    /// The number of records that were given up after a failure.
    pub lost: u64,
    /// The failure, while the log cannot be written.
    pub error: Option<LogError>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }

    /// Whether the queue is full, so that the call should wait for its event.
    pub(crate) fn push(&self, item: Item, is_urgent: bool) -> bool {
        let size = match &item {
            Item::Event(event, _) => event.size(),
            Item::Job(_) => 0,
        };
        let mut state = self.state();
        if state.is_ended {
            // Dropping a waiter or a job answers it.
            state.status.lost += u64::from(matches!(item, Item::Event(..)));
            return false;
        }
        if state.error.is_some()
            && state.bytes > MAX_QUEUED_BYTES
            && matches!(item, Item::Event(_, None))
        {
            state.lost += 1;
            return true;
        }
        state.bytes += size;
        let is_full = state.bytes > MAX_QUEUED_BYTES;
        state.items.push(item);
        // An idle thread wakes up once, then pauses for the interval: one wake-up for many events.
        let wakes = state.is_idle || (is_urgent || is_full) && !state.is_urgent;
        state.is_idle = false;
        state.is_urgent |= is_urgent || is_full;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        is_full
    }

    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_one();
    }

    /// Ends the queue, because its thread has ended. What waits is dropped, which answers it.
    pub(crate) fn end(&self, error: LogError) {
        let mut state = self.state();
        state.is_ended = true;
        let waiting = std::mem::take(&mut state.items);
        let lost = waiting.iter().filter(|item| matches!(item, Item::Event(..))).count() as u64;
        state.status.lost += lost;
        self.is_failing.store(true, Ordering::Release);
        state.error = Some(error);
    }

    pub(crate) fn error(&self) -> Option<LogError> {
        self.state().error.clone()
    }

    pub(crate) fn status(&self) -> LogStatus {
        let state = self.state();
        LogStatus { error: state.error.clone(), ..state.status.clone() }
    }

    /// Takes all items: once one is urgent, or `interval` after the first. `None` when the log is closed
    /// and all is taken. After a failure, waits no longer than until the next attempt. Later items go into
    /// `empty`, so that callers need not grow a new queue.
    fn take(&self, interval: Duration, is_failing: bool, empty: Vec<Item>) -> Option<Vec<Item>> {
        let mut state = self.state();
        while state.items.is_empty() && !state.is_closed && !is_failing {
            state.is_idle = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_idle = false;
        let end = Instant::now() + if is_failing { RETRY_INTERVAL } else { interval };
        while !state.is_urgent && !state.is_closed {
            let Some(left) = end.checked_duration_since(Instant::now()) else { break };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.items.is_empty() && state.is_closed {
            return None;
        }
        (state.is_urgent, state.bytes) = (false, 0);
        Some(std::mem::replace(&mut state.items, empty))
    }

    fn take_lost(&self) -> u64 {
        std::mem::take(&mut self.state().lost)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("status", &self.status()).finish_non_exhaustive()
    }
}

/// Called with the head after each transaction.
pub(crate) type OnHead = Box<dyn FnMut(&Head) + Send>;

/// The state of the thread.
pub(crate) struct LogThread {
    pub(crate) backend: Box<dyn LogBackend>,
    pub(crate) encoder: Encoder,
    pub(crate) queue: Arc<Queue>,
    pub(crate) interval: Duration,
    pub(crate) on_head: Vec<OnHead>,
    pub(crate) retention: Retention,
    /// Whether calls continue while the log cannot be written.
    pub(crate) continues: bool,
    /// Records that are not written yet.
    pub(crate) unwritten: VecDeque<LogRecord>,
    pub(crate) waiters: Vec<Waiter>,
    /// Records that were given up since the last one that was written, and all.
    pub(crate) lost: u64,
    pub(crate) all_lost: u64,
    pub(crate) written: u64,
}

impl LogThread {
    pub(crate) fn run(mut self) {
        let queue = Arc::clone(&self.queue);
        let mut empty = Vec::new();
        while let Some(mut items) = queue.take(self.interval, !self.unwritten.is_empty(), empty) {
            self.lose(queue.take_lost());
            let mut is_failing = !self.unwritten.is_empty();
            for item in items.drain(..) {
                match item {
                    Item::Event(event, waiter) => {
                        self.unwritten.extend(self.encoder.record(event));
                        self.waiters.extend(waiter);
                        if self.unwritten.len() >= MAX_TRANSACTION && !is_failing {
                            is_failing = self.write().is_err();
                        }
                    }
                    Item::Job(job) => {
                        let written = self.write();
                        job(&mut self, written);
                    }
                }
            }
            drop(self.write());
            self.keep_retention();
            items.shrink_to(MAX_KEPT_ITEMS);
            empty = items;
        }
        if !self.unwritten.is_empty() {
            drop(self.write());
        }
        if !self.unwritten.is_empty() || self.lost > 0 {
            let count = self.unwritten.len() as u64 + self.lost;
            tracing::error!(count, "records were not written before the log was closed");
        }
    }

    /// Adds a record about the log or by its operator.
    pub(crate) fn add(&mut self, record: LogRecord) {
        let process = self.encoder.process.clone();
        self.unwritten.push_back(LogRecord { process, time_us: now_us(), ..record });
    }

    /// Appends all records that wait, and answers the calls that wait for them.
    pub(crate) fn write(&mut self) -> Result<(), LogError> {
        let result = self.append();
        self.note(&result);
        let answer = match &result {
            Err(error) if !self.continues => Err(RecordError::from(error.clone()).for_all_calls()),
            _ => Ok(()),
        };
        for waiter in self.waiters.drain(..) {
            drop(waiter.send(answer.clone()));
        }
        result
    }

    fn append(&mut self) -> Result<(), LogError> {
        if self.lost > 0 {
            let (kind, lost) = (RecordKind::Lost, Some(self.lost));
            self.add(LogRecord { kind, lost, ..LogRecord::default() });
        }
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let mut head = Head::empty();
        let unwritten = &mut self.unwritten;
        let mut chain = |last: Head| {
            head = last;
            unwritten.iter_mut().map(|record| LogLine::chained(record, &mut head)).collect()
        };
        let result = self.backend.append(&mut chain);
        if let Err(error) = result {
            if self.lost > 0 {
                self.unwritten.pop_back();
            }
            return Err(error);
        }
        self.written += self.unwritten.len() as u64;
        self.unwritten.clear();
        self.lost = 0;
        self.on_head.iter_mut().for_each(|on_head| on_head(&head));
        Ok(())
    }

    /// Keeps what is not written within its bound, and makes the state known.
    fn note(&mut self, result: &Result<(), LogError>) {
        let kept = self.unwritten.len().min(MAX_UNWRITTEN);
        self.lose((self.unwritten.len() - kept) as u64);
        self.unwritten.truncate(kept);
        let mut state = self.queue.state();
        let error = result.as_ref().err().cloned();
        if error != state.error {
            match &error {
                Some(error) => tracing::error!("the log of calls cannot be written: {error}"),
                None => tracing::info!("the log of calls can be written again"),
            }
        }
        self.queue.is_failing.store(error.is_some(), Ordering::Release);
        let (written, unwritten) = (self.written, self.unwritten.len() as u64);
        let lost = self.all_lost;
        (state.error, state.status) = (error, LogStatus { written, unwritten, lost, error: None });
    }

    fn lose(&mut self, count: u64) {
        self.lost += count;
        self.all_lost += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LogErrorKind;
    use crate::event::Stage;
    use tool_runtime_core::vocabulary::RetryMode;

    fn event(bytes: usize) -> Item {
        let arguments = "x".repeat(bytes).into();
        let stage = Stage::Started { arguments, mode: RetryMode::SafeToRetry };
        Item::Event(Event { time_us: 0, call: 1, stage }, None)
    }

    #[test]
    fn events_that_wait_or_come_when_the_thread_ends_are_lost() {
        let queue = Queue::default();
        for item in [event(1), Item::Job(Box::new(|_, _| {})), event(1)] {
            queue.push(item, false);
        }
        queue.end(LogError::new(LogErrorKind::Other, "the log has panicked"));
        assert_eq!(queue.status().lost, 2);
        queue.push(event(1), false);
        queue.push(Item::Job(Box::new(|_, _| {})), false);
        assert_eq!(queue.status().lost, 3);
        assert_eq!(queue.error().unwrap().to_string(), "the log has panicked");
    }

    #[test]
    fn a_queue_that_is_full_while_the_log_fails_gives_events_up() {
        let queue = Queue::default();
        queue.state().error = Some(LogError::new(LogErrorKind::Full, "the disk is full"));
        let pushed = [MAX_QUEUED_BYTES, 1, 1].map(|bytes| queue.push(event(bytes), false));
        assert_eq!((pushed, queue.take_lost()), ([true; 3], 2));
        let taken = queue.take(Duration::ZERO, true, Vec::new()).map(|items| items.len());
        assert_eq!((taken, queue.push(event(1), false)), (Some(1), false));
    }
}
