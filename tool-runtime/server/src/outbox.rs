//! Messages of a running call to its client: ordered, with a limited rate of progress.

use futures_util::task::AtomicWaker;
use rmcp::RoleServer;
use rmcp::model::RequestId;
use rmcp::service::RequestHandle;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tool_runtime_core::seam::lock;
use tool_runtime_core::seam::release_woken;
use tool_runtime_core::{LogEntry, PeerError, PeerRequest, Progress};

/// Least time between two progress notifications of a call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);

/// How many log entries wait for a client that does not read. More are dropped, and counted.
const MAX_ENTRIES: usize = 1000;

/// How many bytes they may have together. A longer one waits alone.
const MAX_BYTES: usize = 1 << 20;

/// What a value takes beside its text.
const VALUE: usize = size_of::<Value>();

/// Filled by the tool, which never waits; emptied by whoever drives the call.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct Waiting {
    entries: VecDeque<LogEntry>,
    /// How many bytes these have.
    bytes: usize,
    dropped: u64,
    /// Questions whose answer nobody waits for any more.
    taken_back: Vec<RequestId>,
    /// Questions that were not asked yet.
    questions: VecDeque<Question>,
    /// The newest report: older ones that were not sent yet say nothing more.
    progress: Option<Progress>,
    /// How far the newest report was, sent or not.
    furthest: Option<f64>,
    /// When the next report may be sent.
    next_report: Option<Instant>,
}

/// What is to be done next.
pub(super) enum Next {
    TakeBack(RequestId),
    Ask(Question),
    Log(LogEntry),
    Progress(Progress),
    /// A report waits until then.
    Wait(Instant),
    Nothing,
}

impl Outbox {
    pub(super) fn log(&self, entry: LogEntry) {
        self.waiting().log(entry);
        self.nudge();
    }

    pub(super) fn progress(&self, progress: Progress) {
        let mut waiting = self.waiting();
        if !progress.done.is_finite() || waiting.furthest.is_some_and(|far| progress.done <= far) {
            return;
        }
        waiting.furthest = Some(progress.done);
        waiting.progress = Some(progress);
        drop(waiting);
        self.nudge();
    }

    pub(super) fn take_back(&self, question: RequestId) {
        self.waiting().taken_back.push(question);
        self.nudge();
    }

    pub(super) fn ask(&self, question: Question) {
        self.waiting().questions.push_back(question);
        self.nudge();
    }

    /// Who is woken when there is something to do.
    pub(super) fn wake(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Wakes whoever drives the call.
    pub(super) fn nudge(&self) {
        self.waker.wake();
        release_woken();
    }

    /// Takes what comes next; at the end of the call nothing waits for its time any more.
    pub(super) fn next(&self, is_over: bool) -> Next {
        let mut waiting = self.waiting();
        if let Some(question) = waiting.taken_back.pop() {
            return Next::TakeBack(question);
        }
        if let Some(question) = waiting.questions.pop_front() {
            return Next::Ask(question);
        }
        if let Some(entry) = waiting.entries.pop_front() {
            waiting.bytes -= bytes(&entry.data);
            return Next::Log(entry);
        }
        if waiting.progress.is_none() {
            return Next::Nothing;
        }
        let now = Instant::now();
        match waiting.next_report.filter(|at| *at > now && !is_over) {
            Some(at) => Next::Wait(at),
            None => {
                waiting.next_report = Some(now + PROGRESS_INTERVAL);
                waiting.progress.take().map_or(Next::Nothing, Next::Progress)
            }
        }
    }

    /// How many log entries were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.waiting().dropped
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }
}

/// A question on its way to whoever drives the call, who sends it: rmcp knows by the task of a request
/// which stream a message belongs to, and what asks may run in another one.
pub(super) struct Question {
    pub(super) request: PeerRequest,
    pub(super) asked: oneshot::Sender<Result<Asked, PeerError>>,
}

/// A question that was sent, and its answer to come.
pub(super) type Asked = (OpenQuestion, RequestHandle<RoleServer>);

/// A question that a client was asked. If nobody waits for the answer any more, it is taken back.
pub(super) struct OpenQuestion {
    pub(super) outbox: Arc<Outbox>,
    /// `None` once it is answered.
    pub(super) id: Option<RequestId>,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.outbox.take_back(id);
        }
    }
}

impl Waiting {
    fn log(&mut self, entry: LogEntry) {
        let bytes = bytes(&entry.data);
        let has_room = self.entries.len() < MAX_ENTRIES && self.bytes + bytes <= MAX_BYTES;
        if has_room || self.entries.is_empty() {
            self.bytes += bytes;
            self.entries.push_back(entry);
        } else {
            self.dropped += 1;
        }
    }
}

/// How much memory a value takes, more or less.
fn bytes(data: &Value) -> usize {
    let within = match data {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| VALUE + name.len() + bytes(value)).sum()
        }
    };
    VALUE + within
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tool_runtime_core::LogLevel;

    fn report(done: f64) -> Progress {
        Progress::new(done)
    }

    fn reports(outbox: &Outbox, is_over: bool) -> Vec<f64> {
        let mut sent = Vec::new();
        while let Next::Progress(progress) = outbox.next(is_over) {
            sent.push(progress.done);
        }
        sent
    }

    #[test]
    fn progress_only_grows() {
        let outbox = Outbox::default();
        for done in [1.0, 1.0, 0.5, f64::NAN] {
            outbox.progress(report(done));
        }
        assert_eq!(reports(&outbox, true), [1.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn reports_that_come_fast_are_merged_and_the_last_one_is_sent() {
        let outbox = Outbox::default();
        outbox.progress(report(0.0));
        assert_eq!(reports(&outbox, false), [0.0]);
        for done in 1..=9 {
            outbox.progress(report(f64::from(done)));
        }
        assert_eq!(reports(&outbox, false), [0.0; 0]);
        assert!(matches!(outbox.next(false), Next::Wait(_)));
        tokio::time::advance(PROGRESS_INTERVAL).await;
        assert_eq!(reports(&outbox, false), [9.0]);
        outbox.progress(report(10.0));
        assert_eq!(reports(&outbox, true), [10.0]);
    }

    #[test]
    fn a_log_that_nobody_reads_is_bounded() {
        let outbox = Outbox::default();
        let entry = LogEntry::new(LogLevel::Info, "x");
        for _ in 0..MAX_ENTRIES + 5 {
            outbox.log(entry.clone());
        }
        assert_eq!(outbox.dropped(), 5);
    }

    #[test]
    fn a_log_of_long_entries_is_bounded_by_its_bytes() {
        let outbox = Outbox::default();
        let log = |data| outbox.log(LogEntry::new(LogLevel::Info, data));
        // However long it is, one entry is told.
        log(json!({ "all": "x".repeat(2 * MAX_BYTES) }));
        log("x".into());
        assert_eq!(outbox.dropped(), 1);
        assert!(matches!(outbox.next(false), Next::Log(_)));
        for _ in 0..3 {
            log(json!(["x".repeat(MAX_BYTES / 2 - 1000)]));
        }
        assert_eq!(outbox.dropped(), 2);
        while let Next::Log(_) = outbox.next(false) {}
        assert_eq!(outbox.waiting().bytes, 0);
    }
}
