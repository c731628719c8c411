//! A tool call of a test.

use super::connection::Connection;
use super::message::Outcome;
use super::rounds::{Rounds, Running};
use serde_json::{Map, Value};
use std::future::IntoFuture;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tool_runtime_core::tool::Observation;
use tool_runtime_core::tool::peer::{LogEntry, Progress};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::ProtocolError;

/// A prepared tool call. `.await` it for its result, [record](Self::recorded) it, or [start](Self::start) it in the
/// background.
///
/// Questions of the server are answered by [`answer`](super::TestClientBuilder::answer). Dropping the future before the end
/// cancels the call.
///
/// # Panics
/// The future panics if the server does not answer in time, ends the connection, violates JSON-RPC, or exceeds
/// [`max_rounds`](super::TestClientBuilder::max_rounds).
#[must_use = "a call is made when it is awaited or started"]
pub struct TestCall {
    connection: Arc<Connection>,
    params: Map<String, Value>,
    meta: Map<String, Value>,
    reports: bool,
}

/// A result with the notifications during the call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallRecord {
    /// The result of the tool, which may be an error for the model, or an error of the protocol.
    pub result: Result<Observation, ProtocolError>,
    /// Progress notifications, in order. A call that asks a client of 2026-07-28 runs once per round, and reports its
    /// progress from the beginning each time.
    pub progress: Vec<Progress>,
    /// Log entries during the call. MCP does not assign them to calls: concurrent calls record each other's.
    pub log: Vec<LogEntry>,
}

impl TestCall {
    pub(super) fn new(connection: Arc<Connection>, name: String, arguments: Value) -> Self {
        let mut params = Map::new();
        params.insert("name".to_owned(), name.into());
        params.insert("arguments".to_owned(), arguments);
        Self { connection, params, meta: Map::new(), reports: true }
    }

    /// Adds an entry to the request's `_meta`. It overrides an entry of the client.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Requests no progress notifications.
    pub fn without_progress(mut self) -> Self {
        self.reports = false;
        self
    }

    /// Makes the call and records its notifications.
    pub async fn recorded(self) -> CallRecord {
        record(self.send()).await
    }

    /// Makes the call in the background.
    pub fn start(self) -> StartedCall {
        StartedCall(tokio::spawn(record(self.send())))
    }

    fn send(mut self) -> Running {
        if !self.meta.is_empty() {
            self.params.insert("_meta".to_owned(), self.meta.into());
        }
        let Self { connection, params, reports, .. } = self;
        Rounds { connection, method: "tools/call".to_owned(), params, reports }.start()
    }
}

impl IntoFuture for TestCall {
    type Output = Result<Observation, ProtocolError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let mut call = self.send();
        Box::pin(async move { observed(call.end().await) })
    }
}

/// A running call. Dropping it cancels the call.
#[must_use = "a call that is dropped is cancelled"]
pub struct StartedCall(JoinHandle<CallRecord>);

impl StartedCall {
    /// Cancels the call. `notifications/cancelled` is sent when this returns.
    pub async fn cancel(mut self) {
        self.0.abort();
        drop((&mut self.0).await);
    }

    /// Whether the call has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for its end.
    pub async fn recorded(mut self) -> CallRecord {
        match (&mut self.0).await {
            Ok(record) => record,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

impl Drop for StartedCall {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl IntoFuture for StartedCall {
    type Output = Result<Observation, ProtocolError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.recorded().await.result })
    }
}

async fn record(mut call: Running) -> CallRecord {
    let result = observed(call.end().await);
    CallRecord { result, progress: call.progress(), log: call.log() }
}

fn observed(outcome: Outcome) -> Result<Observation, ProtocolError> {
    outcome.map(|result| {
        serde_json::from_value(result.clone())
            .unwrap_or_else(|error| panic!("no result of a call: {error}: {result}"))
    })
}
