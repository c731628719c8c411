//! A request of a client, with all rounds that it takes.

use super::builder::Era;
use super::following::followed;
use super::message::{Notification, Outcome};
use super::question::{Desk, Question};
use super::wire::{Sent, Wire};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::{LogEntry, Progress, ProtocolError};

/// What a client and its running calls share.
pub(super) struct Link {
    pub(super) wire: Arc<Wire>,
    pub(super) desk: Arc<Desk>,
    pub(super) era: Era,
    /// What each request says of its client, in the era without a handshake.
    pub(super) meta: Map<String, Value>,
    pub(super) limit: Duration,
    pub(super) most_rounds: usize,
    /// Whether calls that become tasks are followed.
    pub(super) follows_tasks: bool,
}

impl Link {
    /// Sends a request with what each of this client carries. What it says itself counts.
    pub(super) fn send(&self, method: &str, params: &Map<String, Value>, reports: bool) -> Sent {
        self.wire.request(method, |id| {
            let token = reports.then(|| ("progressToken".to_owned(), id.into()));
            self.introduced(params, token)
        })
    }

    /// Sends a request whose answer interests nobody.
    pub(super) fn mention(&self, method: &str, params: &Map<String, Value>) {
        self.wire.mention(method, &self.introduced(params, None));
    }

    fn introduced(
        &self,
        params: &Map<String, Value>,
        token: Option<(String, Value)>,
    ) -> Map<String, Value> {
        let mut params = params.clone();
        let mut meta = self.meta.clone();
        meta.extend(token);
        if let Some(Value::Object(own)) = params.remove("_meta") {
            meta.extend(own);
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), meta.into());
        }
        params
    }

    /// Answers what a result or a task asks.
    ///
    /// # Errors
    /// The test answers with an error, for which there is no way back to the server.
    pub(super) async fn answers(
        &self,
        asking: &mut Value,
    ) -> Result<Map<String, Value>, ProtocolError> {
        let questions = match asking["inputRequests"].take() {
            Value::Object(questions) => questions,
            _ => Map::new(),
        };
        let mut answers = Map::new();
        for (key, mut question) in questions {
            let method = question["method"].as_str().unwrap_or_default().to_owned();
            let question = Question::new(Some(key.clone()), method, question["params"].take());
            answers.insert(key, self.desk.reply(question).await.into_outcome()?);
        }
        Ok(answers)
    }
}

/// A request of a client, with all rounds that it takes.
pub(super) struct Exchange {
    pub(super) link: Arc<Link>,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
    pub(super) reports: bool,
}

/// An exchange under way.
pub(super) struct Running {
    exchange: Exchange,
    sent: Sent,
    /// The requests so far: their progress is the call's.
    ids: Vec<u64>,
    /// How much the server had said before.
    before: usize,
}

impl Exchange {
    pub(super) fn start(self) -> Running {
        let before = self.link.wire.notified();
        let sent = self.send();
        Running { ids: vec![sent.id()], exchange: self, sent, before }
    }

    fn send(&self) -> Sent {
        self.link.send(&self.method, &self.params, self.reports)
    }
}

impl Running {
    /// Answers what the server asks until there is a result.
    ///
    /// # Panics
    /// The server hangs, ends, asks for ever, or gives a task that is not followed.
    pub(super) async fn end(&mut self) -> Outcome {
        let limit = self.exchange.link.limit;
        for _ in 0..self.exchange.link.most_rounds {
            let result = self.sent.answer(limit).await?;
            match result["resultType"].as_str() {
                None | Some("complete") => return Ok(result),
                Some("input_required") => self.answer(result).await?,
                Some("task") if self.exchange.link.follows_tasks => {
                    return followed(&self.exchange.link, result).await;
                }
                Some(kind) => panic!(
                    "`{}` has a result of the type `{kind}`, which is not the call's own; a client follows tasks with `TestClientBuilder::tasks()`, and `TestClient::request` gives any result as it is: {result}",
                    self.exchange.method
                ),
            }
            self.sent = self.exchange.send();
            self.ids.push(self.sent.id());
        }
        let Exchange { link, method, .. } = &self.exchange;
        panic!("`{method}` still asks after {} rounds", link.most_rounds);
    }

    /// Puts the answers into the next round.
    async fn answer(&mut self, mut result: Value) -> Result<(), ProtocolError> {
        let answers = self.exchange.link.answers(&mut result).await?;
        let params = &mut self.exchange.params;
        params.insert("inputResponses".to_owned(), answers.into());
        match result["requestState"].take() {
            Value::Null => params.remove("requestState"),
            state => params.insert("requestState".to_owned(), state),
        };
        Ok(())
    }

    fn heard(&self) -> Vec<Notification> {
        self.exchange.link.wire.notifications(self.before)
    }

    /// How far it was.
    pub(super) fn progress(&self) -> Vec<Progress> {
        let heard = self.heard();
        let own = heard.iter().filter(|heard| {
            heard.method == "notifications/progress"
                && heard.params["progressToken"].as_u64().is_some_and(|id| self.ids.contains(&id))
        });
        own.map(|heard| progress(&heard.params)).collect()
    }

    /// What was logged since it began.
    pub(super) fn log(&self) -> Vec<LogEntry> {
        let heard = self.heard();
        let entries = heard.iter().filter(|heard| heard.method == "notifications/message");
        entries
            .map(|heard| LogEntry::deserialize(&heard.params))
            .map(|entry| entry.expect("a log entry as MCP has it"))
            .collect()
    }
}

fn progress(params: &Value) -> Progress {
    let report = json!({
        "done": params["progress"],
        "total": params["total"],
        "message": params["message"],
    });
    serde_json::from_value(report).expect("progress as MCP has it")
}
