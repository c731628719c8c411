//! Results of calls in MCP's terms.

use super::convert;
use super::errors;
use super::host_arguments;
use super::rounds::Interruption;
use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult, ErrorData};
use tool_runtime_core::seam::{INTERNAL, error_type};
use tool_runtime_core::tool::Observation;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// Why the request of a call is answered.
pub(super) enum CallEnd {
    Called(Result<Observation, CallError>),
    Interrupted(Interruption),
    /// The call goes on as a task.
    Task(CreateTaskResult),
}

impl CallEnd {
    /// The outcome in the log: the class of an error, or another of few words.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Called(Ok(observation)) if observation.is_error() => error_type(ErrorClass::Tool),
            Self::Called(Ok(_)) => "ok",
            Self::Called(Err(error)) => error_type(error.class()),
            Self::Interrupted(Interruption::Questions(_)) => "input_required",
            Self::Interrupted(Interruption::Failed(_)) => error_type(ErrorClass::Internal),
            Self::Task(_) => "task",
        }
    }
}

/// The outcome of a call.
pub(crate) enum CallOutcome {
    /// The observation of the tool.
    Observation {
        observation: Observation,
        /// Whether this client gets the structured value wrapped in an object.
        is_wrapped: bool,
        /// Whether the transport restores integers of more than 64 bits.
        keeps_big_integers: bool,
    },
    /// An error result, a task, or questions.
    Other(CallToolResponse),
}

impl CallOutcome {
    /// The response in rmcp's types.
    pub(super) fn into_response(self, tool: &str) -> CallToolResponse {
        match self {
            Self::Observation { observation, is_wrapped, keeps_big_integers } => {
                call_result(tool, &observation, is_wrapped, keeps_big_integers).into()
            }
            Self::Other(response) => response,
        }
    }
}

/// The result of a task, for a client of 2026-07-28.
pub(super) fn answer(
    tool: &str,
    outcome: Result<Observation, CallError>,
) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(observation) => Ok(call_result(tool, &observation, false, false)),
        Err(error) => failed(&error, true),
    }
}

/// The result, or an error result if MCP cannot represent it.
fn call_result(
    tool: &str,
    observation: &Observation,
    is_wrapped: bool,
    keeps_big_integers: bool,
) -> CallToolResult {
    if let Some(number) = convert::changed_integer(observation, keeps_big_integers && !is_wrapped) {
        return convert::failure(&format!(
            "the result of `{tool}` has the integer {number}, which is beyond 64 bits and cannot be passed on exactly; the call has had its effect"
        ));
    }
    convert::result(observation, is_wrapped).unwrap_or_else(|error| {
        tracing::warn!(tool, %error, "the tool's answer is not an MCP result");
        convert::failure(&format!("`{tool}`: {INTERNAL}"))
    })
}

/// Most failures are results for the model; some are JSON-RPC errors.
pub(crate) fn failed(error: &CallError, is_stateless: bool) -> Result<CallToolResult, ErrorData> {
    if error.class() == ErrorClass::NotFound {
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    }
    match errors::of_protocol(error, is_stateless) {
        Some(error) => Err(error),
        None => Ok(convert::failure(&host_arguments::message(error))),
    }
}
