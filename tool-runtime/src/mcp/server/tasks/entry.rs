//! One task, as clients see it.

use super::Outcome;
use rmcp::model::{InputRequest, Task, TaskPayload};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How often clients should ask.
const POLL: Duration = Duration::from_secs(1);

/// One task.
pub(super) struct Entry {
    owner: String,
    cancellation: CancellationToken,
    lifetime: Duration,
    created: SystemTime,
    updated: SystemTime,
    message: Option<String>,
    /// What it has asked and nobody has answered yet, by key.
    questions: BTreeMap<String, Question>,
    /// What was answered: the same question is asked once.
    answers: BTreeMap<String, Value>,
    outcome: Option<Outcome>,
}

struct Question {
    request: InputRequest,
    askers: Vec<oneshot::Sender<Value>>,
}

impl Entry {
    pub(super) fn new(owner: String, cancellation: CancellationToken, lifetime: Duration) -> Self {
        let now = SystemTime::now();
        Self {
            owner,
            cancellation,
            lifetime,
            created: now,
            updated: now,
            message: None,
            questions: BTreeMap::new(),
            answers: BTreeMap::new(),
            outcome: None,
        }
    }

    pub(super) fn belongs_to(&self, owner: &str) -> bool {
        self.owner == owner
    }

    /// MCP's `Task`.
    pub(super) fn describe(&self, id: &str) -> Task {
        let [created, updated] = [self.created, self.updated].map(timestamp);
        let mut task = Task::new(id, self.payload().status(), created, updated);
        task.status_message.clone_from(&self.message);
        task.ttl_ms = Some(millis(self.lifetime));
        task.poll_interval_ms = Some(millis(POLL));
        task
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
        self.message = Some(message);
        self.updated = SystemTime::now();
    }

    /// Asks the client, which answers by `tasks/update`.
    pub(super) fn ask(&mut self, key: String, request: InputRequest) -> oneshot::Receiver<Value> {
        let (asker, answer) = oneshot::channel();
        if let Some(known) = self.answers.get(&key) {
            drop(asker.send(known.clone()));
            return answer;
        }
        let question = self.questions.entry(key);
        let question = question.or_insert_with(|| Question { request, askers: Vec::new() });
        question.askers.push(asker);
        self.updated = SystemTime::now();
        answer
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

/// RFC 3339, in UTC.
fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
