//! A request with all of its rounds of questions.

use super::connection::Connection;
use super::json_rpc::PendingRequest;
use super::message::{Notification, Outcome};
use super::task::follow;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tool_runtime_core::tool::peer::{LogEntry, Progress};
use tool_runtime_core::vocabulary::error::ProtocolError;

/// A request with all of its rounds of questions.
pub(super) struct Rounds {
    pub(super) connection: Arc<Connection>,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
    pub(super) reports: bool,
}

/// A request in flight.
pub(super) struct Running {
    rounds: Rounds,
    sent: PendingRequest,
    /// Ids of all rounds, which are the progress tokens.
    ids: Vec<u64>,
    /// Number of notifications before the request.
    before: usize,
}

impl Rounds {
    pub(super) fn start(self) -> Running {
        let before = self.connection.rpc.notified();
        let sent = self.send();
        Running { ids: vec![sent.id()], rounds: self, sent, before }
    }

    fn send(&self) -> PendingRequest {
        self.connection.send(&self.method, &self.params, self.reports)
    }
}

impl Running {
    /// Answers questions until the final result.
    ///
    /// # Panics
    /// The server hangs, ends, exceeds the rounds, or returns a task that is not followed.
    pub(super) async fn end(&mut self) -> Outcome {
        let limit = self.rounds.connection.limit;
        for _ in 0..self.rounds.connection.max_rounds {
            let result = self.sent.answer(limit).await?;
            match result["resultType"].as_str() {
                None | Some("complete") => return Ok(result),
                Some("input_required") => self.answer(result).await?,
                Some("task") if self.rounds.connection.follows_tasks => {
                    return follow(&self.rounds.connection, result).await;
                }
                Some(kind) => panic!(
                    "`{}` has a result of the type `{kind}`; follow tasks by `TestClientBuilder::tasks()`, or get the result as it is by `TestClient::request`: {result}",
                    self.rounds.method
                ),
            }
            self.sent = self.rounds.send();
            self.ids.push(self.sent.id());
        }
        let Rounds { connection, method, .. } = &self.rounds;
        panic!("`{method}` still sends questions after {} rounds", connection.max_rounds);
    }

    /// Adds the answers to the parameters of the next round.
    async fn answer(&mut self, mut result: Value) -> Result<(), ProtocolError> {
        let answers = self.rounds.connection.answers(&mut result).await?;
        let params = &mut self.rounds.params;
        params.insert("inputResponses".to_owned(), answers.into());
        match result["requestState"].take() {
            Value::Null => params.remove("requestState"),
            state => params.insert("requestState".to_owned(), state),
        };
        Ok(())
    }

    fn notifications(&self) -> Vec<Notification> {
        self.rounds.connection.rpc.notifications(self.before)
    }

    /// Progress notifications of all rounds.
    pub(super) fn progress(&self) -> Vec<Progress> {
        let is_own = |params: &Value| {
            params["progressToken"].as_u64().is_some_and(|id| self.ids.contains(&id))
        };
        let progress = self.notifications().into_iter().filter(|notification| {
            notification.method == "notifications/progress" && is_own(&notification.params)
        });
        progress.map(|notification| self::progress(&notification.params)).collect()
    }

    /// Log entries since the start.
    pub(super) fn log(&self) -> Vec<LogEntry> {
        let notifications = self.notifications().into_iter();
        notifications
            .filter(|notification| notification.method == "notifications/message")
            .map(|entry| LogEntry::deserialize(&entry.params).expect("a log entry as MCP has it"))
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
