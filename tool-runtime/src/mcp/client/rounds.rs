//! One call over one connection: the request, and again with answers if the server asks first.

use super::connection::Connection;
use super::exchange::Failure;
use super::hearing::Heard;
use super::listener::Listener;
use super::questions;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, ToolError};
use crate::peer::{PeerCapability, PeerError};
use futures_util::future::try_join_all;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, CustomResult,
    GetExtensions as _, InputRequest, InputRequiredResult, InputResponses, RequestMetaObject,
    ServerResult,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How often a server may ask before it answers.
const MOST_ROUNDS: usize = 10;

/// What is called.
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    /// Makes the arguments, for each time that they are sent.
    pub(super) arguments: &'a mut (dyn FnMut() -> Map<String, Value> + Send),
}

/// What the server answered in the end.
pub(super) enum Outcome {
    Result(Box<CallToolResult>),
    /// A result with parts that MCP does not know.
    Json(Value),
}

/// Why there is no outcome.
pub(super) enum Stop {
    Failed(Failure),
    /// The server asked something that nobody answers.
    Unanswered(CallError),
}

/// Calls a tool.
pub(super) async fn call(
    connection: &Connection,
    asked: Asked<'_>,
    listener: &Arc<Listener>,
) -> Result<Outcome, Stop> {
    let (mut responses, mut state) = (None, None);
    for round in 1..=MOST_ROUNDS {
        let mut params = CallToolRequestParams::new(asked.name.to_owned());
        params.arguments = Some((asked.arguments)());
        (params.input_responses, params.request_state) = (responses.take(), state.take());
        let mut request = CallToolRequest::new(params);
        request.extensions_mut().insert(Heard(Arc::downgrade(listener)));
        let request = ClientRequest::CallToolRequest(request);
        listener.touch();
        let answer = connection.request_heard(request, meta(listener.context()), listener);
        match answer.await.map_err(Stop::Failed)? {
            ServerResult::CallToolResult(result) => return Ok(Outcome::Result(Box::new(result))),
            ServerResult::InputRequiredResult(question) => {
                let InputRequiredResult { input_requests, request_state, .. } = question;
                let requests = input_requests.unwrap_or_default();
                let answers = requests
                    .iter()
                    .map(|(key, request)| answer_to(connection, (key, request), round, listener));
                let answers: InputResponses =
                    try_join_all(answers).await.map_err(Stop::Unanswered)?.into_iter().collect();
                responses = (!answers.is_empty()).then_some(answers);
                state = request_state;
            }
            ServerResult::CustomResult(CustomResult(value)) if is_result(&value) => {
                return Ok(Outcome::Json(value));
            }
            // What another method would answer looks alike where it is as good as empty.
            ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
                return Ok(Outcome::Json(json!({ "content": [] })));
            }
            other => {
                tracing::debug!(?other, "an answer to a call that is none");
                let why = "its answer to `tools/call` is none that MCP knows".to_owned();
                return Err(Stop::Failed(Failure::Lost(why)));
            }
        }
    }
    let text = format!("the server asked {MOST_ROUNDS} times and did not answer `{}`", asked.name);
    Err(Stop::Unanswered(CallError::new(ErrorClass::Tool, text)))
}

fn is_result(value: &Value) -> bool {
    ["content", "structuredContent", "isError"].iter().any(|key| value.get(key).is_some())
}

/// What goes with a request besides what it says: the trace that it belongs to.
fn meta(context: &ToolContext) -> Option<RequestMetaObject> {
    let trace = context.trace()?;
    let mut meta = RequestMetaObject::default();
    meta.set_traceparent(trace.parent);
    if let Some(state) = trace.state {
        meta.set_tracestate(state);
    }
    if let Some(baggage) = trace.baggage {
        meta.set_baggage(baggage);
    }
    Some(meta)
}

/// Answers one question. A person who is not there declines.
async fn answer_to(
    connection: &Connection,
    (key, request): (&String, &InputRequest),
    round: usize,
    listener: &Listener,
) -> Result<(String, Value), CallError> {
    // A server may use a key again in a later round, for another question.
    let own_key = if round == 1 { key.clone() } else { format!("{key}-{round}") };
    let question = questions::question(&own_key, request)
        .map_err(|problem| CallError::new(ErrorClass::Tool, problem))?;
    let capability = question.capability();
    let answer = match connection.answerer().answer(question, Some(listener)).await {
        Err(PeerError::Unsupported(_)) if is_elicitation(capability) => {
            tracing::info!(key, "nobody answers what a server asks: declined");
            json!({ "action": "decline" })
        }
        answer => answer.map_err(|error| CallError::from(ToolError::from(error)))?,
    };
    Ok((key.clone(), answer))
}

fn is_elicitation(capability: PeerCapability) -> bool {
    matches!(capability, PeerCapability::Elicitation | PeerCapability::ElicitationUrl)
}
