//! Messages of a running call to its client, in order and with a limited rate of progress.

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
use tool_runtime_core::tool::peer::{LogEntry, PeerError, PeerRequest, Progress};

/// Minimum interval of progress notifications of a call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);

/// Limit on queued log entries for a client that does not read. Further ones are dropped and counted.
const MAX_ENTRIES: usize = 1000;

/// Limit on the bytes of queued log entries. A longer entry is queued alone.
const MAX_BYTES: usize = 1 << 20;

/// Bytes of a value in addition to its text.
const VALUE_SIZE: usize = size_of::<Value>();

/// A queue between the tool, which never waits, and the task of the request, which sends.
#[derive(Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct Queue {
    entries: VecDeque<LogEntry>,
    /// Bytes of the entries.
    bytes: usize,
    dropped: u64,
    /// Questions to cancel, since the asking calls have ended.
    cancelled: Vec<RequestId>,
    /// Questions to send.
    questions: VecDeque<Question>,
    /// The newest report, which replaces an older one that was not sent.
    progress: Option<Progress>,
    /// Log entries to send before the report.
    before_progress: usize,
    /// The progress of the newest report, sent or not.
    reported: Option<f64>,
    /// The earliest time of the next report.
    next_report: Option<Instant>,
}

/// The next message to send.
pub(super) enum Next {
    CancelQuestion(RequestId),
    Ask(Question),
    Log(LogEntry),
    Progress(Progress),
    /// A report waits until this time.
    Wait(Instant),
    Nothing,
}

impl Outbox {
    pub(super) fn log(&self, entry: LogEntry) {
        self.queue().log(entry);
        self.wake();
    }

    pub(super) fn progress(&self, progress: Progress) {
        let mut queue = self.queue();
        if !progress.done.is_finite()
            || queue.reported.is_some_and(|reported| progress.done <= reported)
        {
            return;
        }
        queue.reported = Some(progress.done);
        if queue.progress.replace(progress).is_none() {
            queue.before_progress = queue.entries.len();
        }
        drop(queue);
        self.wake();
    }

    fn cancel(&self, question: RequestId) {
        self.queue().cancelled.push(question);
        self.wake();
    }

    pub(super) fn ask(&self, question: Question) {
        self.queue().questions.push_back(question);
        self.wake();
    }

    /// Sets the waker of the sending task.
    pub(super) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Wakes the sending task.
    pub(super) fn wake(&self) {
        self.waker.wake();
        release_woken();
    }

    /// Takes the next message; at the end of the call (`is_over`), reports do not wait.
    pub(super) fn next(&self, is_over: bool) -> Next {
        let mut queue = self.queue();
        if let Some(question) = queue.cancelled.pop() {
            return Next::CancelQuestion(question);
        }
        if let Some(question) = queue.questions.pop_front() {
            return Next::Ask(question);
        }
        if let Some(progress) = queue.due_progress(is_over) {
            return Next::Progress(progress);
        }
        if let Some(entry) = queue.entries.pop_front() {
            queue.bytes -= bytes(&entry.data);
            queue.before_progress = queue.before_progress.saturating_sub(1);
            return Next::Log(entry);
        }
        match queue.next_report {
            Some(at) if queue.progress.is_some() => Next::Wait(at),
            _ => Next::Nothing,
        }
    }

    /// The number of dropped log entries.
    pub(super) fn dropped(&self) -> u64 {
        self.queue().dropped
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }
}

/// A question for the task of the request to send: rmcp assigns a message to a stream by the task, and the tool may run
/// in another task.
pub(super) struct Question {
    pub(super) request: PeerRequest,
    pub(super) sent: oneshot::Sender<Result<SentQuestion, PeerError>>,
}

/// A sent question with the handle of its answer.
pub(super) type SentQuestion = (QuestionGuard, RequestHandle<RoleServer>);

/// Cancels a sent question when it is dropped without an answer.
pub(super) struct QuestionGuard {
    pub(super) outbox: Arc<Outbox>,
    /// `None` once the question is answered.
    pub(super) id: Option<RequestId>,
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.outbox.cancel(id);
        }
    }
}

impl Queue {
    /// Takes the report if it is the next message and need not wait.
    fn due_progress(&mut self, is_over: bool) -> Option<Progress> {
        if self.progress.is_none() || self.before_progress > 0 {
            return None;
        }
        let now = Instant::now();
        if !is_over && self.next_report.is_some_and(|at| at > now) {
            return None;
        }
        self.next_report = Some(now + PROGRESS_INTERVAL);
        self.progress.take()
    }

    fn log(&mut self, entry: LogEntry) {
        let bytes = bytes(&entry.data);
        let has_capacity = self.entries.len() < MAX_ENTRIES && self.bytes + bytes <= MAX_BYTES;
        if has_capacity || self.entries.is_empty() {
            self.bytes += bytes;
            self.entries.push_back(entry);
        } else {
            self.dropped += 1;
        }
    }
}

/// The approximate memory of a value.
fn bytes(data: &Value) -> usize {
    let within = match data {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| VALUE_SIZE + name.len() + bytes(value)).sum()
        }
    };
    VALUE_SIZE + within
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tool_runtime_core::tool::peer::LogLevel;

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
    async fn fast_reports_are_merged_and_the_last_one_is_sent() {
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

    #[tokio::test(start_paused = true)]
    async fn log_entries_and_reports_are_sent_in_order() {
        let outbox = Outbox::default();
        let log = |data: &str| outbox.log(LogEntry::new(LogLevel::Info, data));
        let sent = |is_over| {
            let mut sent = Vec::new();
            loop {
                match outbox.next(is_over) {
                    Next::Log(entry) => sent.push(entry.data),
                    Next::Progress(progress) => sent.push(json!(progress.done)),
                    _ => return sent,
                }
            }
        };
        log("first");
        outbox.progress(report(1.0));
        log("second");
        assert_eq!(sent(false), [json!("first"), json!(1.0), json!("second")]);
        // A report that must wait does not delay later entries.
        outbox.progress(report(2.0));
        log("third");
        assert_eq!(sent(false), [json!("third")]);
        log("fourth");
        assert_eq!(sent(true), [json!(2.0), json!("fourth")]);
    }

    #[test]
    fn an_unread_log_is_bounded() {
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
        // However long it is, one entry is queued.
        log(json!({ "all": "x".repeat(2 * MAX_BYTES) }));
        log("x".into());
        assert_eq!(outbox.dropped(), 1);
        assert!(matches!(outbox.next(false), Next::Log(_)));
        for _ in 0..3 {
            log(json!(["x".repeat(MAX_BYTES / 2 - 1000)]));
        }
        assert_eq!(outbox.dropped(), 2);
        while let Next::Log(_) = outbox.next(false) {}
        assert_eq!(outbox.queue().bytes, 0);
    }
}
