//! Calls that become tasks, and requests about tasks.

use super::call_result::answer;
use super::client::Client;
use super::convert;
use super::handler::PoolHandler;
use super::request::principal;
use super::run_call::{cut_short, interrupted, sent};
use super::tasks::{Outcome, Work};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CancelTaskParams, ClientCapabilities, CreateTaskResult, ErrorData,
    GetTaskParams, GetTaskResult, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use std::convert::identity;
use std::sync::Arc;
use std::task::Poll;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::first_polled;
use tool_runtime_core::{BoxFuture, CallError, ErrorClass, Observation, Principal, TaskSupport};

type Call = BoxFuture<'static, Result<Observation, CallError>>;

/// Whether a call goes on as a task.
///
/// # Errors
/// It must, and the client knows no tasks.
pub(super) fn becomes_task(client: &Client, support: TaskSupport) -> Result<bool, ErrorData> {
    if support != TaskSupport::None && knows_tasks(client) {
        return Ok(true);
    }
    if !support.is_required() {
        return Ok(false);
    }
    let required = ClientCapabilities::builder().enable_tasks().build();
    Err(ErrorData::missing_required_client_capability(required))
}

fn knows_tasks(client: &Client) -> bool {
    let capabilities = client.request().client_capabilities();
    client.is_modern() && capabilities.is_some_and(|client| client.supports_tasks())
}

impl PoolHandler {
    /// A call that goes on as a task as soon as it waits for anything. What it asks before that is
    /// asked with the call, as if it were none.
    pub(super) async fn call_as_task(
        &self,
        client: Arc<Client>,
    ) -> Result<CallToolResponse, ErrorData> {
        let stop = CancellationToken::new();
        let mut call = self.owned_call(&client, stop.clone());
        let first = first_polled(&mut call, client.first_poll()).await;
        // What it told so far belongs to the request.
        sent(&client).await;
        match first {
            Poll::Ready(outcome) => {
                answer(client.name(), outcome, client.request().keeps_numbers()).map(Into::into)
            }
            Poll::Pending => match client.interruption_now() {
                Some(interruption) => {
                    cut_short(&client, || drop(call));
                    interrupted(interruption)
                }
                // Nobody would learn of the task.
                None if client.request().token().is_cancelled() => Err(cancelled()),
                None => Ok(self.go_on(&client, call, stop)),
            },
        }
    }

    fn owned_call(&self, client: &Arc<Client>, stop: CancellationToken) -> Call {
        let context = self.context_with(client, stop);
        let (pool, client) = (self.pool().clone(), Arc::clone(client));
        Box::pin(async move {
            let arguments = client.arguments();
            pool.dispatch(client.name(), &arguments, &context, identity).await
        })
    }

    fn go_on(&self, client: &Arc<Client>, call: Call, stop: CancellationToken) -> CallToolResponse {
        let name = client.name().to_owned();
        let work = Work {
            owner: owner(client.request().principal()),
            cancellation: stop,
            call: Box::pin(async move { outcome(&name, call.await) }),
        };
        match self.tasks().start(work, |task| client.go_on_as(task)) {
            Ok(task) => CreateTaskResult::new(task).into(),
            Err(refusal) => convert::failure(refusal).into(),
        }
    }

    pub(super) fn task(
        &self,
        params: &GetTaskParams,
        request: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks().get(&owner(principal(request)), &params.task_id).map(GetTaskResult::new)
    }

    pub(super) fn answer_task(
        &self,
        params: UpdateTaskParams,
        request: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks().update(&owner(principal(request)), &params.task_id, params.input_responses)
    }

    pub(super) fn stop_task(
        &self,
        params: &CancelTaskParams,
        request: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks().cancel(&owner(principal(request)), &params.task_id)
    }
}

/// Whose tasks a request may see.
fn owner(principal: Option<Arc<Principal>>) -> String {
    principal.map(|principal| principal.id().to_owned()).unwrap_or_default()
}

/// How a task ended, as its client will read it.
fn outcome(tool: &str, outcome: Result<Observation, CallError>) -> Outcome {
    if outcome.as_ref().is_err_and(|error| error.class() == ErrorClass::Cancelled) {
        return Outcome::Cancelled;
    }
    match answer(tool, outcome, false) {
        Ok(result) => Outcome::completed(result),
        Err(error) => Outcome::failed(&error),
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
