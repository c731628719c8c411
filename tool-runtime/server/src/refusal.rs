//! JSON-RPC errors of requests.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;
use std::error::Error as _;
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::{CallError, ErrorClass, PeerCapability, PeerError, ProtocolError};

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
pub(super) fn of(error: &CallError, is_modern: bool) -> ErrorData {
    if let Some(refusal) = of_protocol(error, is_modern) {
        return refusal;
    }
    let message = error.message().to_owned();
    match error.class() {
        ErrorClass::Input | ErrorClass::NotFound => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}

/// There is nothing behind a URI. rmcp gives the code that the client's version has for it.
pub(super) fn no_resource(uri: &str) -> ErrorData {
    let shown = excerpt(uri);
    // A part of a URI is another URI.
    let data = (shown == uri).then(|| json!({ "uri": uri }));
    ErrorData::resource_not_found(format!("there is no resource `{shown}`"), data)
}

/// What was given back is nothing that a client could read.
pub(super) fn unfit(error: &serde_json::Error) -> ErrorData {
    tracing::warn!(%error, "an answer is nothing that MCP can carry");
    let message = "the answer is nothing that MCP can carry, which has been logged";
    ErrorData::internal_error(message, None)
}

/// What is an error of the protocol whatever failed: one that somebody chose, and a client that
/// should have declared a capability.
pub(super) fn of_protocol(error: &CallError, is_modern: bool) -> Option<ErrorData> {
    let source = error.source()?;
    if let Some(error) = source.downcast_ref::<ProtocolError>() {
        let (code, message) = (ErrorCode(error.code()), error.message().to_owned());
        return Some(ErrorData::new(code, message, error.data().cloned()));
    }
    match source.downcast_ref() {
        Some(PeerError::Unsupported(needed)) if is_modern => Some(missing(*needed, error)),
        _ => None,
    }
}

fn missing(capability: PeerCapability, error: &CallError) -> ErrorData {
    ErrorData::new(
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        error.message().to_owned(),
        Some(json!({ "requiredCapabilities": capability.declared() })),
    )
}
