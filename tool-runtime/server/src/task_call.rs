//! Calls that become tasks, and requests about tasks.

use super::call_result::{CallEnd, answer};
use super::client::Client;
use super::handler::PoolHandler;
use super::request::{McpResult, Request};
use super::run_call::{cut_short, send_queued};
use super::tasks::{Outcome, Work};
use rmcp::model::{ClientCapabilities, CreateTaskResult, ErrorData};
use std::convert::identity;
use std::sync::Arc;
use std::task::Poll;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::first_polled;
use tool_runtime_core::tool::{Observation, TaskSupport};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

type Call = BoxFuture<'static, Result<Observation, CallError>>;

/// Whether a call becomes a task.
///
/// # Errors
/// The tool requires a task, and the client does not support tasks.
pub(super) fn becomes_task(client: &Client, support: TaskSupport) -> McpResult<bool> {
    if support != TaskSupport::None && supports_tasks(client) {
        return Ok(true);
    }
    if !support.is_required() {
        return Ok(false);
    }
    let required = ClientCapabilities::builder().enable_tasks().build();
    Err(ErrorData::missing_required_client_capability(required))
}

fn supports_tasks(client: &Client) -> bool {
    let capabilities = client.request().client_capabilities();
    client.is_stateless() && capabilities.is_some_and(|client| client.supports_tasks())
}

impl PoolHandler {
    /// A call that becomes a task as soon as it is pending. Questions before that are answers to the
    /// request, as in any call.
    pub(super) async fn call_as_task(&self, client: Arc<Client>) -> McpResult<CallEnd> {
        let stop = CancellationToken::new();
        let mut call = self.owned_call(&client, stop.clone());
        let first = first_polled(&mut call, client.first_poll()).await;
        // Earlier messages belong to the request.
        send_queued(&client).await;
        match first {
            Poll::Ready(outcome) => Ok(CallEnd::Called(outcome)),
            Poll::Pending => match client.interruption_now() {
                Some(interruption) => {
                    cut_short(&client, || drop(call));
                    client.settled_calls().await;
                    Ok(CallEnd::Interrupted(interruption))
                }
                // The client would not receive the task's id.
                None if client.request().token().is_cancelled() => Err(cancelled()),
                None => Ok(self.spawn_task(&client, call, stop)),
            },
        }
    }

    fn owned_call(&self, client: &Arc<Client>, stop: CancellationToken) -> Call {
        let context = self.context_with(client, stop);
        let (pool, client) = (self.pool.clone(), Arc::clone(client));
        Box::pin(async move {
            let arguments = client.arguments();
            let name = client.name();
            pool.dispatch(pool.find(name), name, &arguments, &context, identity).await
        })
    }

    fn spawn_task(&self, client: &Arc<Client>, call: Call, stop: CancellationToken) -> CallEnd {
        let name = client.name().to_owned();
        let work = Work {
            owner: owner(client.request()),
            cancellation: stop,
            call: Box::pin(async move { outcome(&name, call.await) }),
        };
        match self.tasks.start(work, |task| client.become_task(task)) {
            Ok(task) => CallEnd::Task(CreateTaskResult::new(task)),
            Err(error) => CallEnd::Called(Err(CallError::new(ErrorClass::RateLimited, error))),
        }
    }
}

/// The owner of the tasks that a request may see.
pub(super) fn owner(request: &dyn Request) -> String {
    request.principal().map(|principal| principal.id().to_owned()).unwrap_or_default()
}

/// The outcome of a task, in the client's terms.
fn outcome(tool: &str, outcome: Result<Observation, CallError>) -> Outcome {
    if outcome.as_ref().is_err_and(|error| error.class() == ErrorClass::Cancelled) {
        return Outcome::Cancelled;
    }
    match answer(tool, outcome) {
        Ok(result) => Outcome::completed(result),
        Err(error) => Outcome::failed(&error),
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
