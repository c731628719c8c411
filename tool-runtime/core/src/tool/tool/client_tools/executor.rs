//! The tool's side: adds a call to the pending ones and waits for its answer.

use super::call::{Deadline, Request};
use super::pending_calls::{PendingCalls, Ticket};
use crate::tool::arguments::Arguments;
use crate::tool::arguments::input::InputModel;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::results::output_check::OutputModel;
use crate::tool::tool::Executor;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

pub(super) struct ClientExecutor {
    name: String,
    input: InputModel,
    output: Option<Arc<OutputModel>>,
    pending_calls: Arc<PendingCalls>,
    limit: Duration,
}

impl ClientExecutor {
    pub(super) fn new(
        definition: &ToolDefinition,
        pending_calls: &Arc<PendingCalls>,
        limit: Duration,
    ) -> Self {
        Self {
            name: definition.name.clone(),
            input: InputModel::from_schema(definition),
            output: OutputModel::new(definition).map(Arc::new),
            pending_calls: pending_calls.clone(),
            limit,
        }
    }

    fn request(
        &self,
        arguments: Arguments<'_>,
        context: &ToolContext,
    ) -> Result<Request, CallError> {
        self.input.check(arguments)?;
        let arguments = arguments
            .parse::<Map<String, Value>>()
            .map_err(|error| self.input.explain(arguments, &error))?;
        Ok(Request {
            call_id: context.call_id().map(str::to_owned),
            name: self.name.clone(),
            arguments,
            deadline: self.deadline(context),
        })
    }

    /// The earlier of the host's deadline and the caller's.
    fn deadline(&self, context: &ToolContext) -> Option<Deadline> {
        // tokio's clock, which tests can advance.
        let now = Instant::now();
        let own_deadline = now.checked_add(self.limit).map(Instant::into_std);
        let earlier = own_deadline.into_iter().chain(context.deadline()).min()?;
        Some(Deadline::new(earlier, now.into_std()))
    }

    async fn wait_for_answer(
        &self,
        mut ticket: Ticket,
        deadline: Option<Deadline>,
    ) -> Result<Observation, CallError> {
        let Some(deadline) = deadline else {
            return ticket.answer().await;
        };
        match timeout_at(deadline.instant.into(), ticket.answer()).await {
            Ok(answer) => answer,
            Err(_) if ticket.expire() => Err(self.timeout_error()),
            // The host has taken the call and may be about to answer it.
            Err(_) => ticket.answer().await,
        }
    }

    fn timeout_error(&self) -> CallError {
        let text = format!(
            "the host program, which does `{}`, did not answer in time; the call may have had its effect all the same, so find that out before you try again",
            self.name
        );
        CallError::new(ErrorClass::Timeout, text)
    }
}

impl Executor for ClientExecutor {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let request = self.request(arguments, context)?;
            let deadline = request.deadline;
            let ticket = self.pending_calls.put(request, self.output.clone())?;
            self.wait_for_answer(ticket, deadline).await
        })
    }
}
