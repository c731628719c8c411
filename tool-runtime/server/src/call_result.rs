//! Results of calls in MCP's terms.

use super::convert;
use super::errors;
use super::host_arguments;
use rmcp::model::{CallToolResponse, CallToolResult, ErrorData};
use tool_runtime_core::seam::INTERNAL;
use tool_runtime_core::tool::Observation;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

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

/// The result of a call that may become a task, for a client of 2026-07-28.
pub(super) fn answer(
    tool: &str,
    outcome: Result<Observation, CallError>,
    keeps_big_integers: bool,
) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(observation) => Ok(call_result(tool, &observation, false, keeps_big_integers)),
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
