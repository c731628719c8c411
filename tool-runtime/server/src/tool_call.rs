//! `tools/call`: a call of the pool for a client.

use super::client::{Client, Subject};
use super::convert;
use super::handler::PoolHandler;
use super::refusal;
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use super::task_call::becomes_task;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use std::convert::identity;
use std::sync::Arc;
use tool_runtime_core::seam::INTERNAL;
use tool_runtime_core::{CallError, ErrorClass, Observation, Tool};

/// What a call came to.
pub(crate) enum Called {
    /// What its tool gave back.
    Observation {
        observation: Observation,
        /// Whether this client sees its structured value wrapped.
        is_wrapped: bool,
        /// Whether the transport restores integers of more than 64 bits.
        keeps_numbers: bool,
    },
    /// What else can become of a call.
    Other(CallToolResponse),
}

impl PoolHandler {
    pub(super) async fn call(
        &self,
        params: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let round = Round { responses: params.input_responses, state: params.request_state };
        let subject = Subject {
            method: "tools/call",
            name: params.name.into_owned(),
            arguments: params.arguments,
        };
        let client = self.client(request, subject, round);
        Ok(self.called(&client).await?.into_response(client.name()))
    }

    /// A call, wherever it came from.
    pub(super) async fn called(&self, client: &Arc<Client>) -> Result<Called, ErrorData> {
        // Looked at before: the tool may be another one when the call has ended.
        let tool = self.pool().get(client.name());
        let definition = tool.as_ref().map(Tool::definition);
        let support = definition.map(|definition| definition.task).unwrap_or_default();
        if becomes_task(client, support)? {
            return self.call_as_task(Arc::clone(client)).await.map(Called::Other);
        }
        let is_wrapped = !client.is_modern() && definition.is_some_and(convert::is_wrapped);
        let context = self.context_with(client, client.request().token());
        let arguments = client.arguments();
        let call = self.pool().dispatch(client.name(), &arguments, &context, identity);
        match run_call(client, call).await {
            Ok(Ok(observation)) => {
                let keeps_numbers = client.request().keeps_numbers();
                Ok(Called::Observation { observation, is_wrapped, keeps_numbers })
            }
            Ok(Err(error)) => {
                failed(&error, client.is_modern()).map(|result| Called::Other(result.into()))
            }
            Err(interruption) => interrupted(interruption).map(Called::Other),
        }
    }
}

impl Called {
    /// As rmcp has it.
    pub(super) fn into_response(self, tool: &str) -> CallToolResponse {
        match self {
            Self::Observation { observation, is_wrapped, keeps_numbers } => {
                fit(tool, &observation, is_wrapped, keeps_numbers).into()
            }
            Self::Other(response) => response,
        }
    }
}

/// What a call that goes on as a task came to: only clients of 2026-07-28 have them.
pub(super) fn answer(
    tool: &str,
    outcome: Result<Observation, CallError>,
    keeps_numbers: bool,
) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(observation) => Ok(fit(tool, &observation, false, keeps_numbers)),
        Err(error) => failed(&error, true),
    }
}

/// The result, or that it is nothing a client could read.
fn fit(
    tool: &str,
    observation: &Observation,
    is_wrapped: bool,
    keeps_numbers: bool,
) -> CallToolResult {
    if let Some(number) = convert::changed_integer(observation, keeps_numbers && !is_wrapped) {
        return convert::failure(&format!(
            "the result of `{tool}` has the integer {number}, which is beyond 64 bits and cannot be passed on exactly; the call has had its effect"
        ));
    }
    convert::result(observation, is_wrapped).unwrap_or_else(|error| {
        tracing::warn!(tool, %error, "the tool's answer is not an MCP result");
        convert::failure(&format!("`{tool}`: {INTERNAL}"))
    })
}

/// Most failures are for the model to read; some are the protocol's.
pub(crate) fn failed(error: &CallError, is_modern: bool) -> Result<CallToolResult, ErrorData> {
    if error.class() == ErrorClass::NotFound {
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    }
    match refusal::of_protocol(error, is_modern) {
        Some(refusal) => Err(refusal),
        None => Ok(convert::failure(error.message())),
    }
}
