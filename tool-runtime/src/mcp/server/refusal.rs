//! Errors of requests, in JSON-RPC's terms.

use crate::error::{CallError, ErrorClass};
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

/// Refuses a method of a capability that is not declared: it does not exist.
///
/// # Errors
/// If it is not.
pub(super) fn unless(is_declared: bool, method: &str) -> Result<(), ErrorData> {
    if is_declared {
        return Ok(());
    }
    let message = format!("this server has nothing behind `{method}`; it is not offered");
    Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
}

/// What a prompt, a resource or a completion failed with.
pub(super) fn of(error: &CallError) -> ErrorData {
    let message = error.message().to_owned();
    match error.class() {
        ErrorClass::Input | ErrorClass::NotFound => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}

/// There is nothing behind a URI. rmcp gives the code that the client's version has for it.
pub(super) fn no_resource(uri: &str) -> ErrorData {
    let message = format!("there is no resource `{uri}`");
    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
}

/// What was given back is nothing that a client could read.
pub(super) fn unfit(error: &serde_json::Error) -> ErrorData {
    tracing::warn!(%error, "an answer is nothing that MCP can carry");
    let message = "the answer is nothing that MCP can carry, which has been logged";
    ErrorData::internal_error(message, None)
}
