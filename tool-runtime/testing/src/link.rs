//! The connection that a client and its running calls share.
//!
//! The client has a JSON-RPC implementation of its own, not rmcp's: every line can be inspected, and the server is held to one
//! answer per request. It talks to the stdio transport through tokio's in-memory stream, not through a socket: on a paused
//! clock the runtime would advance time while bytes are in the kernel.

use super::question::{Desk, Question};
use super::wire::{Sent, Wire};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::ProtocolError;

/// How clients talk to servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// 2026-07-28: every request says all about itself, and questions are answers.
    Modern,
    /// 2025-11-25: a handshake first, and questions while a request waits.
    Legacy,
}

impl Era {
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

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
