//! A question in rmcp's types.
//!
//! It stands here and not with the server because reading these types from JSON is a tenth of a
//! small server: only what asks links it, by the pointer that its request carries.

use super::request::PeerRequest;
use rmcp::model::InputRequest;
use serde_json::json;

/// Makes rmcp's type of a question.
pub(crate) type MakeQuestion = fn(&PeerRequest) -> serde_json::Result<InputRequest>;

pub(super) fn make(request: &PeerRequest) -> serde_json::Result<InputRequest> {
    serde_json::from_value(json!({ "method": request.method(), "params": request.params() }))
}
