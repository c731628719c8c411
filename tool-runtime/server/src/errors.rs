//! JSON-RPC errors of requests.

use super::request::McpResult;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;
use std::error::Error as _;
use tool_runtime_core::seam::excerpt;
use tool_runtime_core::tool::peer::{PeerCapability, PeerError};
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass, ProtocolError};

/// Checks that the capability of a method is declared.
///
/// # Errors
/// "Method not found".
pub(super) fn check_declared<T>(capability: Option<&T>, method: &str) -> McpResult<()> {
    if capability.is_some() {
        return Ok(());
    }
    let message = format!("this server does not support `{method}`");
    Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
}

pub(super) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("unknown method `{}`", excerpt(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// The error of a prompt, a resource or a completion.
pub(super) fn of_call(error: &CallError, is_stateless: bool) -> ErrorData {
    if let Some(error) = of_protocol(error, is_stateless) {
        return error;
    }
    let message = error.message().to_owned();
    match error.class() {
        ErrorClass::Input | ErrorClass::NotFound => ErrorData::invalid_params(message, None),
        ErrorClass::Denied | ErrorClass::ApprovalRejected => {
            ErrorData::invalid_request(message, None)
        }
        _ => ErrorData::internal_error(message, None),
    }
}

/// rmcp sends the code that the client's version has for an unknown resource.
pub(super) fn unknown_resource(uri: &str) -> ErrorData {
    let display = excerpt(uri);
    // A shortened URI would be a different one.
    let data = (display == uri).then(|| json!({ "uri": uri }));
    ErrorData::resource_not_found(format!("there is no resource `{display}`"), data)
}

/// The error for a result that MCP cannot represent.
pub(super) fn invalid_result(error: &serde_json::Error) -> ErrorData {
    tracing::warn!(%error, "MCP cannot represent an answer");
    let message = "MCP cannot represent the answer, which has been logged";
    ErrorData::internal_error(message, None)
}

/// The JSON-RPC error that a call fails with in any case: one that the tool chose, or a missing
/// capability of the client.
pub(super) fn of_protocol(error: &CallError, is_stateless: bool) -> Option<ErrorData> {
    let source = error.source()?;
    if let Some(error) = source.downcast_ref::<ProtocolError>() {
        let (code, message) = (ErrorCode(error.code()), error.message().to_owned());
        return Some(ErrorData::new(code, message, error.data().cloned()));
    }
    match source.downcast_ref() {
        Some(PeerError::Unsupported(needed)) if is_stateless => Some(missing(*needed, error)),
        _ => None,
    }
}

fn missing(capability: PeerCapability, error: &CallError) -> ErrorData {
    ErrorData::new(
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        error.message().to_owned(),
        Some(json!({ "requiredCapabilities": capability.declaration() })),
    )
}
