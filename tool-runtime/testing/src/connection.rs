//! The connection of a client, shared with its running calls.
//!
//! The client does not use rmcp's JSON-RPC: every line can be inspected, and a second answer to a request is an error.
//! Uses tokio's in-memory stream instead of a socket: with a paused clock the runtime would advance time while bytes
//! are in the kernel.

use super::json_rpc::{JsonRpc, PendingRequest};
use super::question::{Question, QuestionHandler};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::vocabulary::error::ProtocolError;

/// A version of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolVersion {
    /// 2026-07-28, stateless: every request carries the client's information, and questions are sent as results.
    V2026_07_28,
    /// 2025-11-25, stateful: a handshake first, and questions are sent while a call waits.
    V2025_11_25,
}

impl ProtocolVersion {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::V2026_07_28 => "2026-07-28",
            Self::V2025_11_25 => "2025-11-25",
        }
    }
}

/// The connection of a client, shared with its running calls.
pub(super) struct Connection {
    pub(super) rpc: Arc<JsonRpc>,
    pub(super) questions: Arc<QuestionHandler>,
    pub(super) version: ProtocolVersion,
    /// The `_meta` of each request, in the version without a handshake.
    pub(super) meta: Map<String, Value>,
    pub(super) limit: Duration,
    pub(super) max_rounds: usize,
    /// Whether calls that become tasks are followed to their end.
    pub(super) follows_tasks: bool,
}

impl Connection {
    /// Sends a request with the client's `_meta`, which the parameters may override.
    pub(super) fn send(
        &self,
        method: &str,
        params: &Map<String, Value>,
        reports: bool,
    ) -> PendingRequest {
        self.rpc.request(method, |id| {
            let token = reports.then(|| ("progressToken".to_owned(), id.into()));
            self.with_meta(params, token)
        })
    }

    /// Sends a request and ignores its answer.
    pub(super) fn send_unanswered(&self, method: &str, params: &Map<String, Value>) {
        self.rpc.send_unanswered(method, &self.with_meta(params, None));
    }

    fn with_meta(
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

    /// Answers the questions of a result or a task.
    ///
    /// # Errors
    /// The test answers with an error, which cannot be sent to the server.
    pub(super) async fn answers(
        &self,
        with_questions: &mut Value,
    ) -> Result<Map<String, Value>, ProtocolError> {
        let questions = match with_questions["inputRequests"].take() {
            Value::Object(questions) => questions,
            _ => Map::new(),
        };
        let mut answers = Map::new();
        for (key, mut question) in questions {
            let method = question["method"].as_str().unwrap_or_default().to_owned();
            let question = Question::new(Some(key.clone()), method, question["params"].take());
            answers.insert(key, self.questions.reply(question).await.into_outcome()?);
        }
        Ok(answers)
    }
}
