//! A call that goes on as a task, to its end.

use super::link::Link;
use super::message::{Failure, Outcome};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tool_runtime_core::ProtocolError;

/// How often to ask if the server does not say it.
const POLL: Duration = Duration::from_millis(500);

/// What JSON-RPC calls a failure inside of the server: MCP has no code for a task that was cancelled.
const INTERNAL_ERROR: i32 = -32603;

/// Asks for a task until it has ended, and answers what it asks meanwhile.
///
/// # Errors
/// The task failed or was cancelled.
///
/// # Panics
/// It works too long without a question, or asks for ever.
pub(super) async fn followed(link: &Arc<Link>, mut state: Value) -> Outcome {
    let mut task = Task::of(link, &state);
    let mut rounds = 0;
    let mut since = Instant::now();
    loop {
        match state["status"].as_str().unwrap_or_default() {
            "input_required" if state["inputRequests"].is_object() => {
                assert!(rounds < link.most_rounds, "the task still asks after {rounds} rounds");
                rounds += 1;
                task.answer(&mut state).await?;
                since = Instant::now();
            }
            // What it asks stands with every state but the first.
            "working" | "input_required" => {
                assert!(since.elapsed() < link.limit, "the task works {:?} already", link.limit);
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

/// A task of the server. Dropped before its end, it is cancelled.
struct Task {
    link: Arc<Link>,
    id: Value,
    is_over: bool,
}

impl Task {
    fn of(link: &Arc<Link>, state: &Value) -> Self {
        Self { link: Arc::clone(link), id: state["taskId"].clone(), is_over: false }
    }

    async fn answer(&self, state: &mut Value) -> Result<(), ProtocolError> {
        let answers = self.link.answers(state).await?;
        let mut params = Map::new();
        params.insert("inputResponses".to_owned(), answers.into());
        self.request("tasks/update", params).await.map(drop)
    }

    async fn request(&self, method: &str, mut params: Map<String, Value>) -> Outcome {
        params.insert("taskId".to_owned(), self.id.clone());
        self.link.send(method, &params, false).answer(self.link.limit).await
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.is_over {
            let params = Map::from_iter([("taskId".to_owned(), self.id.clone())]);
            self.link.mention("tasks/cancel", &params);
        }
    }
}
