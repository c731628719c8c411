//! A question in rmcp's types.

use rmcp::model::InputRequest;
use serde_json::json;
use tool_runtime_core::{PeerError, PeerRequest};

/// The request in rmcp's types.
///
/// # Errors
/// The request is not one that clients know.
pub(crate) fn of(request: &PeerRequest) -> Result<InputRequest, PeerError> {
    let question = json!({ "method": request.method(), "params": request.params() });
    serde_json::from_value(question).map_err(|error| PeerError::Unaskable {
        key: request.key().to_owned(),
        problem: error.to_string(),
    })
}
