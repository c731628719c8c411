//! A tool call of a test.

use super::exchange::{Exchange, Running};
use super::link::Link;
use super::message::Outcome;
use serde_json::{Map, Value};
use std::future::IntoFuture;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tool_runtime_core::{BoxFuture, LogEntry, Observation, Progress, ProtocolError};

/// A tool call that is not made yet: `.await` it for its result, or let it be
/// [recorded](Self::recorded) or [started](Self::start).
///
/// What the server asks meanwhile is answered by
/// [`answer`](super::TestClientBuilder::answer), in both eras. If the future is dropped before the
/// call's end, the server is told that it is cancelled.
///
/// # Panics
/// The future panics if the server does not answer in time, ends the connection, breaks JSON-RPC, or
/// asks for ever.
#[must_use = "a call is made when it is awaited or started"]
pub struct TestCall {
    link: Arc<Link>,
    params: Map<String, Value>,
    meta: Map<String, Value>,
    reports: bool,
}

/// A call with what was told while it ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallRecord {
    /// What came of it: a result of the tool, which may be an error for the model to read, or an
    /// error of the protocol.
    pub result: Result<Observation, ProtocolError>,
    /// How far it was, in the order in which it was told. A call that asks a client of 2026-07-28
    /// runs once a round, and tells its progress from the beginning each time.
    pub progress: Vec<Progress>,
    /// What the server logged while it ran. MCP does not say of log entries which call they are of:
    /// calls that run together have each other's.
    pub log: Vec<LogEntry>,
}

impl TestCall {
    pub(super) fn new(link: Arc<Link>, name: String, arguments: Value) -> Self {
        let mut params = Map::new();
        params.insert("name".to_owned(), name.into());
        params.insert("arguments".to_owned(), arguments);
        Self { link, params, meta: Map::new(), reports: true }
    }

    /// Adds an entry of the request's MCP metadata, `_meta`. It stands over what the client says of
    /// itself.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Does not ask for progress.
    pub fn without_progress(mut self) -> Self {
        self.reports = false;
        self
    }

    /// Makes the call and keeps what is told while it runs.
    pub async fn recorded(self) -> CallRecord {
        record(self.send()).await
    }

    /// Makes the call now, and lets it run while the test does something else.
    pub fn start(self) -> StartedCall {
        StartedCall(tokio::spawn(record(self.send())))
    }

    fn send(mut self) -> Running {
        if !self.meta.is_empty() {
            self.params.insert("_meta".to_owned(), self.meta.into());
        }
        let Self { link, params, reports, .. } = self;
        Exchange { link, method: "tools/call".to_owned(), params, reports }.start()
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

/// A call that runs. Dropped, it is cancelled.
#[must_use = "a call that is dropped is cancelled"]
pub struct StartedCall(JoinHandle<CallRecord>);

impl StartedCall {
    /// Cancels the call: when this returns, the server has been sent `notifications/cancelled`.
    pub async fn cancel(mut self) {
        self.0.abort();
        drop((&mut self.0).await);
    }

    /// Whether it has ended.
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
