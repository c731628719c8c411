//! `tools/call`: a call of the pool for a client.

use super::client::Subject;
use super::convert;
use super::drive::{driven, interrupted};
use super::handler::PoolHandler;
use super::refusal;
use super::rounds::Round;
use super::task_call::becomes_task;
use crate::error::{CallError, ErrorClass, INTERNAL};
use crate::observation::Observation;
use crate::tool::Tool;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use std::convert::identity;

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
        // Looked at before: the tool may be another one when the call has ended.
        let tool = self.pool().get(client.name());
        let definition = tool.as_ref().map(Tool::definition);
        let support = definition.map(|definition| definition.task).unwrap_or_default();
        if becomes_task(&client, support)? {
            return self.call_as_task(client).await;
        }
        let is_wrapped = !client.is_modern() && definition.is_some_and(convert::is_wrapped);
        let context = self.context_with(&client, client.request().ct.clone());
        let arguments = client.arguments();
        let call = self.pool().dispatch(client.name(), &arguments, &context, identity);
        match driven(&client, call).await {
            Ok(outcome) => {
                answer(client.name(), outcome, is_wrapped, client.is_modern()).map(Into::into)
            }
            Err(interruption) => interrupted(interruption),
        }
    }
}

/// What a call came to, for its client.
pub(super) fn answer(
    tool: &str,
    outcome: Result<Observation, CallError>,
    is_wrapped: bool,
    is_modern: bool,
) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(observation) => Ok(fit(tool, &observation, is_wrapped)),
        Err(error) => failed(&error, is_modern),
    }
}

/// The result, or that it is nothing a client could read.
fn fit(tool: &str, observation: &Observation, is_wrapped: bool) -> CallToolResult {
    convert::result(observation, is_wrapped).unwrap_or_else(|error| {
        tracing::warn!(tool, %error, "the tool's answer is no MCP result");
        convert::failure(&format!("`{tool}`: {INTERNAL}"))
    })
}

/// Most failures are for the model to read; some are the protocol's.
fn failed(error: &CallError, is_modern: bool) -> Result<CallToolResult, ErrorData> {
    if error.class() == ErrorClass::NotFound {
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    }
    match refusal::of_protocol(error, is_modern) {
        Some(refusal) => Err(refusal),
        None => Ok(convert::failure(error.message())),
    }
}
