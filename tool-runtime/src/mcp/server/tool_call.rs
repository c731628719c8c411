//! `tools/call`: a call of the pool for a client.

use super::client::{Client, Subject, principal};
use super::convert;
use super::drive::driven;
use super::handler::PoolHandler;
use super::rounds::{Interruption, Round};
use super::task_call::becomes_task;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, INTERNAL, ProtocolError};
use crate::observation::Observation;
use crate::peer::{PeerCapability, PeerError};
use crate::tool::Tool;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ErrorData};
use rmcp::service::RequestContext;
use serde_json::json;
use std::convert::identity;
use std::error::Error as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

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
        let client = Arc::new(self.client(request, subject, round));
        // Looked at before: the tool may be another one when the call has ended.
        let tool = self.pool.get(client.name());
        let definition = tool.as_ref().map(Tool::definition);
        let support = definition.map(|definition| definition.task).unwrap_or_default();
        if becomes_task(&client, support)? {
            return self.call_as_task(client).await;
        }
        let is_wrapped = !client.is_modern() && definition.is_some_and(convert::is_wrapped);
        let context = self.context(&client, client.request().ct.clone());
        let arguments = client.arguments();
        let call = self.pool.dispatch(client.name(), &arguments, &context, identity);
        match driven(&client, call).await {
            Ok(outcome) => {
                answer(client.name(), outcome, is_wrapped, client.is_modern()).map(Into::into)
            }
            Err(interruption) => interrupted(interruption),
        }
    }

    /// The context of a call for a client.
    pub(super) fn context(&self, client: &Arc<Client>, stop: CancellationToken) -> ToolContext {
        let context = self
            .pool
            .context()
            .with_cancellation(stop)
            .with_call_id(client.request().id.to_string())
            .with_peer(Arc::clone(client) as _);
        match principal(client.request()) {
            Some(principal) => context.with_principal(principal),
            None => context,
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
    let source = error.source();
    if let Some(error) = source.and_then(|source| source.downcast_ref::<ProtocolError>()) {
        let (code, message) = (ErrorCode(error.code()), error.message().to_owned());
        return Err(ErrorData::new(code, message, error.data().cloned()));
    }
    if let Some(PeerError::Unsupported(capability)) =
        source.and_then(|source| source.downcast_ref()).filter(|_| is_modern)
    {
        return Err(missing(*capability, error.message()));
    }
    Ok(convert::failure(error.message()))
}

/// The client should have declared a capability.
fn missing(capability: PeerCapability, message: &str) -> ErrorData {
    let required = match capability {
        PeerCapability::Elicitation => json!({ "elicitation": { "form": {} } }),
        PeerCapability::ElicitationUrl => json!({ "elicitation": { "url": {} } }),
        PeerCapability::Sampling => json!({ "sampling": {} }),
        PeerCapability::Roots => json!({ "roots": {} }),
    };
    ErrorData::new(
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        message.to_owned(),
        Some(json!({ "requiredCapabilities": required })),
    )
}

/// The client has to answer questions first: they are the result.
pub(super) fn interrupted(interruption: Interruption) -> Result<CallToolResponse, ErrorData> {
    match interruption {
        Interruption::Questions(questions) => Ok(questions.into()),
        Interruption::Refused(error) => Err(error),
    }
}
