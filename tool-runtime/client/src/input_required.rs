//! A call over one connection: the request, and more rounds with answers while the server needs input.

use super::connection::Connection;
use super::failure::Failure;
use super::in_flight_call::InFlightCall;
use super::in_words::in_words;
use super::notification_router::ProgressHandle;
#[cfg(feature = "http")]
use super::param_headers::CalledTool;
use super::server_requests;
use super::trace;
use super::verbatim;
use futures_util::future::try_join_all;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest, CustomResult,
    ErrorCode, ErrorData, GetExtensions as _, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, RequestMetaObject, ServerResult, Task,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tool_runtime_core::tool::peer::PeerError;
use tool_runtime_core::tool::{ToolContext, ToolDefinition};
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass, ToolError};

/// Limit on the rounds of questions of one call.
const MAX_ROUNDS: usize = 10;

/// Limit on the questions of one round.
const MAX_QUESTIONS: usize = 16;

/// A call to send.
pub(super) struct ToolRequest<'a> {
    pub(super) name: &'a str,
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP has headers"))]
    pub(super) definition: &'a Arc<ToolDefinition>,
    /// Returns the arguments, once per round.
    pub(super) arguments: &'a mut (dyn FnMut() -> Map<String, Value> + Send),
    /// Whether the call may continue as a task.
    pub(super) as_task: bool,
}

/// The answer of the server.
pub(super) enum Answer {
    /// The result, unchanged.
    Done(Value),
    /// The call continues as a task.
    Task(Box<Task>),
}

/// The reason why a call has no answer.
pub(super) enum Stop {
    Failed(Failure),
    /// The call has failed: a question was invalid or not answered, there were too many, or its task failed.
    Ended(CallError),
}

/// Calls a tool.
pub(super) async fn call(
    connection: &Connection,
    tool: ToolRequest<'_>,
    call: &Arc<InFlightCall>,
) -> Result<Answer, Stop> {
    let (mut responses, mut state) = (None, None);
    for round in 1..=MAX_ROUNDS {
        let mut params = CallToolRequestParams::new(tool.name.to_owned());
        params.arguments = Some((tool.arguments)());
        (params.input_responses, params.request_state) = (responses.take(), state.take());
        let mut request = CallToolRequest::new(params);
        request.extensions_mut().insert(ProgressHandle(Arc::downgrade(call)));
        #[cfg(feature = "http")]
        request.extensions_mut().insert(CalledTool(Arc::clone(tool.definition)));
        let request = ClientRequest::CallToolRequest(request);
        call.touch();
        let capabilities = tool.as_task.then(|| connection.answerer().capabilities_with_tasks());
        let meta = meta(call.context(), capabilities);
        let answer = connection.request_for_call(request, meta, call);
        match answer.await.map_err(Stop::Failed)? {
            ServerResult::CallToolResult(result) => {
                return Ok(Answer::Done(serde_json::to_value(result).unwrap_or_default()));
            }
            ServerResult::InputRequiredResult(question) => {
                let InputRequiredResult { input_requests, request_state, .. } = question;
                let requests = input_requests.unwrap_or_default();
                let answers = answers(connection, &requests, round, call).await?;
                responses = (!answers.is_empty()).then_some(answers);
                state = request_state;
            }
            ServerResult::CreateTaskResult(created) => {
                return Ok(Answer::Task(Box::new(created.task)));
            }
            ServerResult::CustomResult(CustomResult(value)) => match verbatim::unwrapped(value) {
                value if verbatim::is_result(&value) => return Ok(Answer::Done(value)),
                value => return Err(unreadable(&value)),
            },
            // An empty result of a call matches these types.
            ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
                return Ok(Answer::Done(json!({ "content": [] })));
            }
            other => return Err(unreadable(&serde_json::to_value(other).unwrap_or_default())),
        }
    }
    let text = format!("`{}` has no result after {MAX_ROUNDS} rounds of questions", tool.name);
    Err(Stop::Ended(CallError::new(ErrorClass::Tool, text)))
}

/// The failure of a call whose answer is not a result. The connection and its other calls stay.
#[cold]
fn unreadable(answer: &Value) -> Stop {
    let why = match answer.get("resultType") {
        Some(kind) if !verbatim::is_complete(answer) => {
            format!(
                "its answer has the `resultType` {}, which is unknown here or incomplete",
                in_words(kind)
            )
        }
        _ => format!("its answer is {}, not the result of a call", in_words(answer)),
    };
    let text = format!("{why}; the call may have had its effect");
    Stop::Failed(Failure::Rejected(ErrorData::new(ErrorCode::PARSE_ERROR, text, None)))
}

/// Metadata of a request: its trace, and capabilities beyond those of the handshake.
fn meta(
    context: &ToolContext,
    capabilities: Option<ClientCapabilities>,
) -> Option<RequestMetaObject> {
    let trace = context.sent_trace();
    if trace.is_none() && capabilities.is_none() {
        return None;
    }
    let mut meta = RequestMetaObject::default();
    if let Some(capabilities) = capabilities {
        meta.set_client_capabilities(capabilities);
    }
    if let Some(trace) = trace {
        trace::set(&mut meta, &trace);
    }
    Some(meta)
}

/// Answers the questions of a server.
pub(super) async fn answers(
    connection: &Connection,
    requests: &InputRequests,
    round: usize,
    call: &InFlightCall,
) -> Result<InputResponses, Stop> {
    if requests.len() > MAX_QUESTIONS {
        let text = format!(
            "the server sent {} questions together; the limit is {MAX_QUESTIONS}",
            requests.len()
        );
        return Err(Stop::Ended(CallError::new(ErrorClass::Tool, text)));
    }
    let answers =
        requests.iter().map(|(key, request)| answer_to(connection, (key, request), round, call));
    let answered = async {
        tokio::select! {
            answers = try_join_all(answers) => answers.map_err(Stop::Ended),
            // Without the connection the answers cannot be sent.
            () = connection.closed() => {
                Err(Stop::Failed(Failure::Lost("the connection ended".to_owned())))
            }
        }
    };
    let answered = call.timeouts().in_time(answered).await;
    // The time that the user takes does not count towards the server's idle timeout.
    call.touch();
    Ok(answered.map_err(Stop::Failed)??.into_iter().collect())
}

/// Answers one question. Without a handler, elicitation is declined.
async fn answer_to(
    connection: &Connection,
    (key, request): (&String, &InputRequest),
    round: usize,
    call: &InFlightCall,
) -> Result<(String, Value), CallError> {
    // A server may use a key again in a later round, for another question.
    let own_key = if round == 1 { key.clone() } else { format!("{key}-{round}") };
    let question =
        server_requests::question(&own_key, request, connection.notifications().redactors())
            .map_err(|problem| CallError::new(ErrorClass::Tool, problem))?;
    let capability = question.capability();
    let answer = match connection.answerer().answer(question, Some(call)).await {
        Err(PeerError::Unsupported(_)) if capability.is_elicitation() => {
            tracing::info!(key, "no handler for the server's elicitation: declined");
            json!({ "action": "decline" })
        }
        answer => answer.map_err(|error| CallError::from(ToolError::from(error)))?,
    };
    Ok((key.clone(), answer))
}
