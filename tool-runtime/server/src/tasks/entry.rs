//! One task, for its client.

use crate::passing;
use crate::rounds::endless;
use rmcp::model::{CallToolResult, ErrorData, InputRequest, JsonObject, Task, TaskPayload};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::PeerCapability;

/// How often clients should ask about a task that has just begun, and about one that takes long.
const FIRST_POLL: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_secs(2);

/// How often it may ask what was answered: a tool that asks until it likes an answer gets the same
/// one for ever.
const MAX_ANSWERS: usize = 1000;

/// How a task ended.
pub(in super::super) enum Outcome {
    /// With a result, good or bad: what `tools/call` would have answered.
    Completed(JsonObject),
    /// With an error of the protocol.
    Failed(JsonObject),
    Cancelled,
}

impl Outcome {
    pub(in super::super) fn completed(result: CallToolResult) -> Self {
        Self::Completed(written(&passing::whole(result.into())))
    }

    pub(in super::super) fn failed(error: &ErrorData) -> Self {
        Self::Failed(written(error))
    }
}

fn written(what: &impl Serialize) -> JsonObject {
    match serde_json::to_value(what) {
        Ok(Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}

/// One task. Its call is cancelled with it.
pub(super) struct Entry {
    owner: String,
    cancellation: CancellationToken,
    lifetime: Duration,
    expiry: Instant,
    created: SystemTime,
    updated: SystemTime,
    message: Option<String>,
    /// What it has asked and nobody has answered yet, by key.
    questions: BTreeMap<String, Question>,
    /// What was answered: the same question is asked once.
    answers: BTreeMap<String, Value>,
    /// How often it was given one of these again.
    repeats: usize,
    outcome: Option<Outcome>,
    /// Whether its client knows how it ended.
    is_read: bool,
}

struct Question {
    request: InputRequest,
    kind: PeerCapability,
    askers: Vec<oneshot::Sender<Value>>,
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
            questions: BTreeMap::new(),
            answers: BTreeMap::new(),
            repeats: 0,
            outcome: None,
            is_read: false,
        }
    }

    pub(super) fn belongs_to(&self, owner: &str) -> bool {
        self.owner == owner
    }

    /// Whether both are of one owner.
    pub(super) fn is_neighbour(&self, other: &Self) -> bool {
        self.owner == other.owner
    }

    /// When its time is over.
    pub(super) fn expiry(&self) -> Instant {
        self.expiry
    }

    /// Whether nobody has read yet how it ended, and when that was; `None` while it runs.
    pub(super) fn ended(&self) -> Option<(bool, SystemTime)> {
        self.outcome.as_ref().map(|_| (!self.is_read, self.updated))
    }

    /// Its client reads how it is.
    pub(super) fn read(&mut self) {
        self.is_read = self.outcome.is_some();
    }

    /// MCP's `Task`.
    pub(super) fn describe(&self, id: &str) -> Task {
        let [created, updated] = [self.created, self.updated].map(timestamp);
        let mut task = Task::new(id, self.payload().status(), created, updated);
        task.status_message.clone_from(&self.message);
        task.ttl_ms = Some(millis(self.lifetime));
        task.poll_interval_ms = Some(millis(self.poll()));
        task
    }

    /// How often its client should ask: what took longer so far may take longer yet.
    fn poll(&self) -> Duration {
        let age = self.created.elapsed().unwrap_or_default();
        (age / 4).clamp(FIRST_POLL, POLL)
    }

    /// Its status, and what that brings with it.
    pub(super) fn payload(&self) -> TaskPayload {
        match &self.outcome {
            Some(Outcome::Completed(result)) => TaskPayload::Completed { result: result.clone() },
            Some(Outcome::Failed(error)) => TaskPayload::Failed { error: error.clone() },
            Some(Outcome::Cancelled) => TaskPayload::Cancelled,
            None if self.questions.is_empty() => TaskPayload::Working,
            None => {
                let open = self.questions.iter();
                let open = open.map(|(key, question)| (key.clone(), question.request.clone()));
                TaskPayload::InputRequired { input_requests: open.collect() }
            }
        }
    }

    /// Says what it is doing.
    pub(super) fn tell(&mut self, message: String) {
        if self.outcome.is_none() {
            self.message = Some(message);
            self.updated = SystemTime::now();
        }
    }

    /// Asks the client, which answers by `tasks/update`; `None` if the task is over.
    pub(super) fn ask(
        &mut self,
        key: String,
        request: InputRequest,
        kind: PeerCapability,
    ) -> Option<oneshot::Receiver<Value>> {
        if self.repeats == MAX_ANSWERS {
            self.end(Outcome::failed(&endless(&key)));
            self.cancellation.cancel();
        }
        if self.outcome.is_some() {
            return None;
        }
        let (asker, answer) = oneshot::channel();
        if let Some(known) = self.answers.get(&key) {
            self.repeats += 1;
            drop(asker.send(known.clone()));
            return Some(answer);
        }
        let question = self.questions.entry(key);
        let question = question.or_insert_with(|| Question { request, kind, askers: Vec::new() });
        question.askers.push(asker);
        self.updated = SystemTime::now();
        Some(answer)
    }

    /// Whether this could be the answer to what was asked by this key, if anything was.
    pub(super) fn takes(&self, key: &str, answer: &Value) -> bool {
        self.questions.get(key).is_none_or(|question| question.takes(answer))
    }

    /// Takes an answer; one that nobody waits for is ignored.
    pub(super) fn answer(&mut self, key: &str, answer: Value) {
        let Some(question) = self.questions.remove(key) else {
            return;
        };
        for asker in question.askers {
            drop(asker.send(answer.clone()));
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

    /// Cancels it: it is so at once, whatever its tool still does.
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
    fn takes(&self, answer: &Value) -> bool {
        let said = &answer[self.kind.answer_member()];
        if self.kind.is_elicitation() {
            matches!(said.as_str(), Some("accept" | "decline" | "cancel"))
        } else {
            said.is_object() || said.is_array()
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
