//! Polls a call that continues as a task.

use super::connection::Connection;
use super::message::{Failure, Outcome};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tool_runtime_core::vocabulary::error::ProtocolError;

/// Default poll interval.
const POLL: Duration = Duration::from_millis(500);

/// JSON-RPC's internal error: MCP has no code for a cancelled task.
const INTERNAL_ERROR: i32 = -32603;

/// Polls a task until it has ended, and answers its questions.
///
/// # Errors
/// The task failed or was cancelled.
///
/// # Panics
/// The task exceeds the time limit or the rounds.
pub(super) async fn follow(connection: &Arc<Connection>, mut state: Value) -> Outcome {
    let mut task = Task::from_connection(connection, &state);
    let mut rounds = 0;
    let mut since = Instant::now();
    loop {
        match state["status"].as_str().unwrap_or_default() {
            "input_required" if state["inputRequests"].is_object() => {
                assert!(
                    rounds < connection.max_rounds,
                    "the task still sends questions after {rounds} rounds"
                );
                rounds += 1;
                task.answer(&mut state).await?;
                since = Instant::now();
            }
            // The first state has no questions yet.
            "working" | "input_required" => {
                assert!(
                    since.elapsed() < connection.limit,
                    "the task works {:?} already",
                    connection.limit
                );
                sleep(poll(&state)).await;
            }
            end => {
                task.is_over = true;
                return ended(end, &state);
            }
        }
        state = task.request("tasks/get", Map::new()).await?;
    }
}

fn poll(state: &Value) -> Duration {
    state["pollIntervalMs"].as_u64().map_or(POLL, Duration::from_millis)
}

fn ended(status: &str, state: &Value) -> Outcome {
    match status {
        "completed" => Ok(state["result"].clone()),
        "failed" => match Failure::deserialize(&state["error"]) {
            Ok(failure) => Err(failure.into()),
            Err(error) => panic!("the task failed with what is not an error: {error}: {state}"),
        },
        "cancelled" => Err(ProtocolError::new(INTERNAL_ERROR, "the task was cancelled")),
        _ => panic!("no state of a task: {state}"),
    }
}

/// A task of the server. Dropping it before its end cancels it.
struct Task {
    connection: Arc<Connection>,
    id: Value,
    is_over: bool,
}

impl Task {
    fn from_connection(connection: &Arc<Connection>, state: &Value) -> Self {
        Self { connection: Arc::clone(connection), id: state["taskId"].clone(), is_over: false }
    }

    async fn answer(&self, state: &mut Value) -> Result<(), ProtocolError> {
        let answers = self.connection.answers(state).await?;
        let mut params = Map::new();
        params.insert("inputResponses".to_owned(), answers.into());
        self.request("tasks/update", params).await.map(drop)
    }

    async fn request(&self, method: &str, mut params: Map<String, Value>) -> Outcome {
        params.insert("taskId".to_owned(), self.id.clone());
        self.connection.send(method, &params, false).answer(self.connection.limit).await
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.is_over {
            let params = Map::from_iter([("taskId".to_owned(), self.id.clone())]);
            self.connection.send_unanswered("tasks/cancel", &params);
        }
    }
}
