//! The state of one task.

use crate::passthrough;
use crate::rounds::repeated_question;
use rmcp::model::{
    CallToolResult, ErrorData, InputRequest, InputRequests, JsonObject, Task, TaskPayload,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::tool::peer::PeerCapability;

/// Recommended poll interval for a new task, and for a long one.
const FIRST_POLL: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_secs(2);

/// Limit on repeating answered questions: a tool that repeats a question until the answer is valid would receive the
/// same answer endlessly.
const MAX_ANSWERS: usize = 1000;

/// The end of a task.
pub(in super::super) enum Outcome {
    /// The result that `tools/call` would have answered, which may be an error result.
    Completed(JsonObject),
    /// A JSON-RPC error.
    Failed(JsonObject),
    Cancelled,
}

impl Outcome {
    pub(in super::super) fn completed(result: CallToolResult) -> Self {
        Self::Completed(to_object(&passthrough::restore_result(result.into())))
    }

    pub(in super::super) fn failed(error: &ErrorData) -> Self {
        Self::Failed(to_object(error))
    }
}

fn to_object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}

/// One task. Dropping it cancels its call.
pub(super) struct Entry {
    owner: String,
    cancellation: CancellationToken,
    lifetime: Duration,
    expiry: Instant,
    created: SystemTime,
    updated: SystemTime,
    message: Option<String>,
    /// Questions without an answer, by key.
    questions: HashMap<String, Question>,
    /// Answers by key: the same question is asked once.
    answers: HashMap<String, Value>,
    /// Number of repeated answers.
    repeats: usize,
    outcome: Option<Outcome>,
    /// Whether the client has read the outcome.
    is_read: bool,
}

struct Question {
    request: InputRequest,
    kind: PeerCapability,
    waiters: Vec<oneshot::Sender<Value>>,
}

impl Entry {
    pub(super) fn new(owner: String, cancellation: CancellationToken, lifetime: Duration) -> Self {
        let now = SystemTime::now();
        Self {
            owner,
            cancellation,
            lifetime,
            expiry: Instant::now() + lifetime,
            created: now,
            updated: now,
            message: None,
            questions: HashMap::new(),
            answers: HashMap::new(),
            repeats: 0,
            outcome: None,
            is_read: false,
        }
    }

    pub(super) fn belongs_to(&self, owner: &str) -> bool {
        self.owner == owner
    }

    /// Whether both have the same owner.
    pub(super) fn has_owner_of(&self, other: &Self) -> bool {
        self.owner == other.owner
    }

    pub(super) fn expiry(&self) -> Instant {
        self.expiry
    }

    /// Whether the outcome is unread, and the time of the end; `None` while the task runs.
    pub(super) fn ended(&self) -> Option<(bool, SystemTime)> {
        self.outcome.as_ref().map(|_| (!self.is_read, self.updated))
    }

    /// Notes that the client reads the state.
    pub(super) fn mark_read(&mut self) {
        self.is_read = self.outcome.is_some();
    }

    /// MCP's `Task`.
    pub(super) fn describe(&self, id: &str) -> Task {
        let [created, updated] = [self.created, self.updated].map(timestamp);
        let mut task = Task::new(id, self.payload().status(), created, updated);
        task.status_message.clone_from(&self.message);
        task.ttl_ms = Some(millis(self.lifetime));
        task.poll_interval_ms = Some(millis(self.poll_interval()));
        task
    }

    /// The recommended poll interval, which grows with the age.
    fn poll_interval(&self) -> Duration {
        let age = self.created.elapsed().unwrap_or_default();
        (age / 4).clamp(FIRST_POLL, POLL)
    }

    /// The status, with its data.
    pub(super) fn payload(&self) -> TaskPayload {
        match &self.outcome {
            Some(Outcome::Completed(result)) => TaskPayload::Completed { result: result.clone() },
            Some(Outcome::Failed(error)) => TaskPayload::Failed { error: error.clone() },
            Some(Outcome::Cancelled) => TaskPayload::Cancelled,
            None if self.questions.is_empty() => TaskPayload::Working,
            None => {
                let mut input_requests = InputRequests::new();
                for (key, question) in &self.questions {
                    input_requests.insert(key.clone(), question.request.clone());
                }
                TaskPayload::InputRequired { input_requests }
            }
        }
    }

    /// Sets the status message.
    pub(super) fn set_message(&mut self, message: String) {
        if self.outcome.is_none() {
            self.message = Some(message);
            self.updated = SystemTime::now();
        }
    }

    /// Adds a question, which the client answers by `tasks/update`; `None` if the task has ended.
    pub(super) fn ask(
        &mut self,
        key: String,
        request: InputRequest,
        kind: PeerCapability,
    ) -> Option<oneshot::Receiver<Value>> {
        if self.repeats == MAX_ANSWERS {
            self.end(Outcome::failed(&repeated_question(&key)));
            self.cancellation.cancel();
        }
        if self.outcome.is_some() {
            return None;
        }
        let (waiter, answer) = oneshot::channel();
        if let Some(known) = self.answers.get(&key) {
            self.repeats += 1;
            drop(waiter.send(known.clone()));
            return Some(answer);
        }
        let question = self.questions.entry(key);
        let question = question.or_insert_with(|| Question { request, kind, waiters: Vec::new() });
        question.waiters.push(waiter);
        self.updated = SystemTime::now();
        Some(answer)
    }

    /// Whether this is a valid answer to the open question of this key. Also true if no such
    /// question is open.
    pub(super) fn accepts(&self, key: &str, answer: &Value) -> bool {
        self.questions.get(key).is_none_or(|question| question.accepts(answer))
    }

    /// Delivers an answer; one without a question is ignored.
    pub(super) fn answer(&mut self, key: &str, answer: Value) {
        let Some(question) = self.questions.remove(key) else {
            return;
        };
        for waiter in question.waiters {
            drop(waiter.send(answer.clone()));
        }
        self.answers.insert(key.to_owned(), answer);
        self.updated = SystemTime::now();
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.outcome.is_none() {
            self.outcome = Some(outcome);
            self.updated = SystemTime::now();
        }
        self.questions.clear();
        self.answers.clear();
    }

    /// Cancels the task. The status changes immediately, even if the tool continues.
    pub(super) fn cancel(&mut self) {
        self.cancellation.cancel();
        self.end(Outcome::Cancelled);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

impl Question {
    fn accepts(&self, answer: &Value) -> bool {
        let member = &answer[self.kind.answer_member()];
        match self.kind.is_elicitation() {
            true => matches!(member.as_str(), Some("accept" | "decline" | "cancel")),
            false => member.is_object() || member.is_array(),
        }
    }
}

/// RFC 3339, in UTC.
fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
