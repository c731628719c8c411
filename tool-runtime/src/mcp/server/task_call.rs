//! Calls that go on as tasks, and what clients do with tasks.

use super::client::Client;
use super::convert;
use super::drive::{cut_short, interrupted, sent};
use super::handler::PoolHandler;
use super::request::principal;
use super::tasks::{Outcome, Work};
use super::tool_call::answer;
use crate::definition::TaskSupport;
use crate::error::{CallError, ErrorClass};
use crate::isolation::{FirstPoll, Isolation};
use crate::observation::Observation;
use crate::principal::Principal;
use crate::tool::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CancelTaskParams, ClientCapabilities, CreateTaskResult, ErrorData,
    GetTaskParams, GetTaskResult, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use std::convert::identity;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a tool may take to its first `.await`, before its call goes on as a task.
const FIRST_POLL: Duration = Duration::from_millis(200);

type Call = BoxFuture<'static, Result<Observation, CallError>>;

/// Whether a call goes on as a task.
///
/// # Errors
/// It must, and the client knows no tasks.
pub(super) fn becomes_task(client: &Client, support: TaskSupport) -> Result<bool, ErrorData> {
    match support {
        TaskSupport::None => Ok(false),
        _ if knows_tasks(client) => Ok(true),
        TaskSupport::Optional => Ok(false),
        TaskSupport::Required => {
            let required = ClientCapabilities::builder().enable_tasks().build();
            Err(ErrorData::missing_required_client_capability(required))
        }
    }
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
        let (mut call, due) = self.owned_call(&client, stop.clone());
        let first = first_polled(&mut call, due).await;
        // What it told so far belongs to the request.
        sent(&client).await;
        match first {
            Poll::Ready(outcome) => answer(client.name(), outcome).map(Into::into),
            Poll::Pending => match client.interruption() {
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

    /// The call, and whether its tool was polled, where that happens in another task.
    fn owned_call(
        &self,
        client: &Arc<Client>,
        stop: CancellationToken,
    ) -> (Call, Option<Arc<FirstPoll>>) {
        let (isolation, due) = self.isolation().map(Isolation::observed).unzip();
        let context = self.context_with(client, stop).with_isolation(isolation);
        let (pool, client) = (self.pool().clone(), Arc::clone(client));
        let call = Box::pin(async move {
            let arguments = client.arguments();
            pool.dispatch(client.name(), &arguments, &context, identity).await
        });
        (call, due)
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

/// Polls a call once, and waits until its tool was polled as well. One that blocks its thread is not
/// waited for.
async fn first_polled(
    call: &mut Call,
    due: Option<Arc<FirstPoll>>,
) -> Poll<Result<Observation, CallError>> {
    let polled = poll_fn(|task| {
        let polled = call.as_mut().poll(task);
        let is_due = due.as_ref().is_some_and(|due| due.is_due(task));
        match polled.is_pending() && is_due {
            true => Poll::Pending,
            false => Poll::Ready(polled),
        }
    });
    tokio::time::timeout(FIRST_POLL, polled).await.unwrap_or(Poll::Pending)
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
    match answer(tool, outcome) {
        Ok(result) => Outcome::completed(&result),
        Err(error) => Outcome::failed(&error),
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
