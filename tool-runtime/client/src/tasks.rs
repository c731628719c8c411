//! Calls that continue as tasks of the server (the extension `io.modelcontextprotocol/tasks`): polled until
//! done, and cancelled when dropped.

use super::connection::Connection;
use super::failure::Failure;
use super::in_flight_call::InFlightCall;
use super::in_words::in_words;
use super::input_required::{Stop, answers};
use super::request_timeouts::RequestTimeouts;
use super::server::Server;
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientCapabilities, ClientRequest, DetailedTask,
    ErrorCode, ErrorData, GetTaskParams, GetTaskRequest, GetTaskResult, InputRequests,
    RequestMetaObject, ServerResult, Task, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, sleep_until};
use tool_runtime_core::tool::peer::Progress;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// Poll interval for a server that suggests none.
const POLL: Duration = Duration::from_secs(1);

/// Lower bound of the poll interval that a server requests.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Upper bound of the poll interval that a server requests.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);

/// Limit on connection losses in a row while a task is polled.
const MAX_LOSSES: usize = 3;

/// Time limit of the cancellation of a task.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a server rejected a call because it accepts the tool only as a task.
pub(super) fn is_demanded(error: &ErrorData) -> bool {
    let required = || error.data.as_ref()?.get("requiredCapabilities").cloned();
    error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        && required()
            .and_then(|required| serde_json::from_value::<ClientCapabilities>(required).ok())
            .is_some_and(|required| required.supports_tasks())
}

/// A task that is polled. Dropping it before its end cancels the task.
struct PolledTask<'a> {
    server: &'a Server,
    connection: Arc<Connection>,
    call: &'a Arc<InFlightCall>,
    id: String,
    /// Keys of answered questions.
    answered: HashSet<String>,
    /// The last status message, and the number of messages.
    last_status: (Option<String>, u32),
    is_over: bool,
}

/// Waits for the result of a task.
pub(super) async fn follow(
    server: &Server,
    connection: Arc<Connection>,
    call: &Arc<InFlightCall>,
    task: Task,
) -> Result<Value, Stop> {
    let id = task.task_id.clone();
    let (answered, last_status) = (HashSet::new(), (None, 0));
    let mut polled =
        PolledTask { server, connection, call, id, answered, last_status, is_over: false };
    polled.outcome(task).await
}

impl PolledTask<'_> {
    async fn outcome(&mut self, mut task: Task) -> Result<Value, Stop> {
        loop {
            self.report(&task);
            self.pause(&task).await?;
            let polled = self.poll().await?;
            task = polled.task;
            match polled.payload {
                TaskPayload::InputRequired { input_requests } => {
                    self.answer(input_requests).await?;
                }
                TaskPayload::Completed { result } => {
                    self.is_over = true;
                    return Ok(Value::Object(result));
                }
                TaskPayload::Failed { error } => {
                    self.is_over = true;
                    return Err(Stop::Failed(Failure::Rejected(reason(error))));
                }
                TaskPayload::Cancelled => {
                    self.is_over = true;
                    return Err(self.end_error(ErrorClass::Tool, "was cancelled there"));
                }
                // `Working`, and unknown states.
                _ => {}
            }
        }
    }

    /// Reports a new status message as progress.
    fn report(&mut self, task: &Task) {
        self.call.touch();
        if task.status_message.is_some() && task.status_message != self.last_status.0 {
            self.last_status = (task.status_message.clone(), self.last_status.1 + 1);
            let message = task.status_message.as_deref();
            let message =
                message.map(|text| self.server.redactors().results.text(text).into_owned());
            let mut progress = Progress::new(f64::from(self.last_status.1));
            progress.message = message;
            self.call.report(progress);
        }
    }

    async fn pause(&self, task: &Task) -> Result<(), Stop> {
        let pause = task.poll_interval_ms.map_or(POLL, Duration::from_millis);
        let next = Instant::now() + pause.clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL);
        let deadline = self.call.deadline();
        sleep_until(next.min(deadline)).await;
        if deadline <= next {
            return Err(Stop::Failed(self.call.timeouts().failure()));
        }
        Ok(())
    }

    /// Polls the task. It survives its connection if the server keeps running.
    async fn poll(&mut self) -> Result<DetailedTask, Stop> {
        let mut losses = 0;
        loop {
            let request = GetTaskRequest::new(GetTaskParams::new(&self.id)).into();
            let failure = match self.request(request).await {
                Ok(ServerResult::GetTaskResult(GetTaskResult { task, .. })) => return Ok(task),
                Ok(other) => {
                    let other = serde_json::to_value(other).unwrap_or_default();
                    let why =
                        format!("its answer to `tasks/get` is {}, not a task", in_words(&other));
                    return Err(self.unknown(&why));
                }
                Err(Failure::Rejected(error)) => return Err(self.unknown(&error.message)),
                Err(failure) => failure,
            };
            losses += 1;
            if losses == MAX_LOSSES || !matches!(failure, Failure::Lost(_) | Failure::Unsent(_)) {
                return Err(Stop::Failed(to_lost(failure)));
            }
            self.connection.end_after(&failure);
            sleep(POLL / 4).await;
            self.connection = self.server.connection().await.map_err(|error| {
                Stop::Failed(Failure::Lost(format!("and could not be asked again: {error}")))
            })?;
        }
    }

    async fn answer(&mut self, mut requests: InputRequests) -> Result<(), Stop> {
        requests.retain(|key, _| !self.answered.contains(key));
        if requests.is_empty() {
            return Ok(());
        }
        self.answered.extend(requests.keys().cloned());
        let answers = answers(&self.connection, &requests, 1, self.call).await?;
        let update = UpdateTaskRequest::new(UpdateTaskParams::new(&self.id, answers)).into();
        self.request(update).await.map_err(|failure| Stop::Failed(to_lost(failure)))?;
        Ok(())
    }

    /// An indeterminate outcome.
    fn unknown(&self, why: &str) -> Stop {
        let text = format!(
            "is known there no more ({}); it may have had its effect, so find that out before you try again",
            self.server.redact(why)
        );
        self.end_error(ErrorClass::Indeterminate, &text)
    }

    fn end_error(&self, class: ErrorClass, what: &str) -> Stop {
        let server = self.server.name();
        let text = format!("the task that the MCP server `{server}` made of this call {what}");
        Stop::Ended(CallError::new(class, text))
    }

    async fn request(&self, request: ClientRequest) -> Result<ServerResult, Failure> {
        request_with_capability(&self.connection, request, self.call.timeouts()).await
    }
}

/// Servers answer requests about tasks only with the client capability in each request.
async fn request_with_capability(
    connection: &Connection,
    request: ClientRequest,
    timeouts: RequestTimeouts,
) -> Result<ServerResult, Failure> {
    let mut meta = RequestMetaObject::default();
    meta.set_client_capabilities(connection.answerer().capabilities_with_tasks());
    connection.request_with(request, Some(meta), timeouts).await
}

/// The failure of a call that was sent before.
fn to_lost(failure: Failure) -> Failure {
    match failure {
        Failure::Unsent(why) => {
            Failure::Lost(why.unwrap_or_else(|| "the connection ended".to_owned()))
        }
        other => other,
    }
}

/// The error of a failed task.
fn reason(error: serde_json::Map<String, Value>) -> ErrorData {
    let text = error.get("message").and_then(Value::as_str);
    let text = text.unwrap_or("its task failed without a reason").to_owned();
    serde_json::from_value(Value::Object(error))
        .unwrap_or_else(|_| ErrorData::internal_error(text, None))
}

impl Drop for PolledTask<'_> {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if self.is_over {
            return;
        }
        let request = CancelTaskRequest::new(CancelTaskParams::new(&self.id)).into();
        let (connection, timeouts) =
            (Arc::clone(&self.connection), RequestTimeouts { idle: CLOSE_TIMEOUT, until: None });
        runtime.spawn(async move {
            drop(request_with_capability(&connection, request, timeouts).await);
        });
    }
}
