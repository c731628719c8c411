//! A request of a client, with all rounds that it takes.

use super::following::followed;
use super::link::Link;
use super::message::{Notification, Outcome};
use super::wire::Sent;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tool_runtime_core::{LogEntry, Progress, ProtocolError};

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
