//! One task, as clients see it.

use super::{Members, Outcome};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How often clients should ask.
const POLL: Duration = Duration::from_secs(1);

/// One task.
pub(super) struct Entry {
    owner: String,
    cancellation: CancellationToken,
    lifetime: Duration,
    created: DateTime<Utc>,
    updated: DateTime<Utc>,
    message: Option<String>,
    /// What it has asked and nobody has answered yet, by key.
    questions: BTreeMap<String, Question>,
    /// What was answered: the same question is asked once.
    answers: BTreeMap<String, Value>,
    outcome: Option<Outcome>,
}

struct Question {
    request: Value,
    askers: Vec<oneshot::Sender<Value>>,
}

impl Entry {
    pub(super) fn new(owner: String, cancellation: CancellationToken, lifetime: Duration) -> Self {
        let now = Utc::now();
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
    pub(super) fn describe(&self, id: &str) -> Members {
        let mut task = Members::new();
        task.insert("taskId".to_owned(), id.into());
        task.insert("status".to_owned(), self.status().into());
        if let Some(message) = &self.message {
            task.insert("statusMessage".to_owned(), message.clone().into());
        }
        task.insert("createdAt".to_owned(), self.created.to_rfc3339().into());
        task.insert("lastUpdatedAt".to_owned(), self.updated.to_rfc3339().into());
        task.insert("ttlMs".to_owned(), millis(self.lifetime));
        task.insert("pollIntervalMs".to_owned(), millis(POLL));
        task
    }

    /// What the status brings with it.
    pub(super) fn detail(&self, task: &mut Members) {
        let (member, value) = match &self.outcome {
            Some(Outcome::Completed(result)) => ("result", result.clone()),
            Some(Outcome::Failed(error)) => ("error", error.clone()),
            None if !self.questions.is_empty() => {
                let open = self.questions.iter();
                let open = open.map(|(key, question)| (key.clone(), question.request.clone()));
                ("inputRequests", Value::Object(open.collect()))
            }
            Some(Outcome::Cancelled) | None => return,
        };
        task.insert(member.to_owned(), value);
    }

    fn status(&self) -> &'static str {
        match &self.outcome {
            Some(Outcome::Completed(_)) => "completed",
            Some(Outcome::Failed(_)) => "failed",
            Some(Outcome::Cancelled) => "cancelled",
            None if !self.questions.is_empty() => "input_required",
            None => "working",
        }
    }

    /// Says what it is doing.
    pub(super) fn tell(&mut self, message: String) {
        self.message = Some(message);
        self.updated = Utc::now();
    }

    /// Asks the client, which answers by `tasks/update`.
    pub(super) fn ask(
        &mut self,
        key: String,
        method: &str,
        params: Members,
    ) -> oneshot::Receiver<Value> {
        let (asker, answer) = oneshot::channel();
        if let Some(known) = self.answers.get(&key) {
            drop(asker.send(known.clone()));
            return answer;
        }
        let question = self.questions.entry(key).or_insert_with(|| Question {
            request: json!({ "method": method, "params": params }),
            askers: Vec::new(),
        });
        question.askers.push(asker);
        self.updated = Utc::now();
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
        self.updated = Utc::now();
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.outcome.is_none() {
            self.outcome = Some(outcome);
            self.updated = Utc::now();
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

fn millis(duration: Duration) -> Value {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into()
}
