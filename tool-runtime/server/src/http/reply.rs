//! Writes messages of the fast path as text.

use crate::client::Client;
use crate::passing;
use crate::request::Request;
use crate::tool_call::Called;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use tool_runtime_core::Observation;

/// A message to a client.
pub(super) struct Reply {
    /// Its JSON text.
    pub(super) json: String,
    /// Whether it answers the request.
    pub(super) is_last: bool,
    status: StatusCode,
}

impl Reply {
    /// Something that is told before the answer.
    pub(super) fn notification(notification: ServerNotification) -> Self {
        Self { is_last: false, ..Self::written(&JsonRpcMessage::notification(notification)) }
    }

    /// What a call of this client came to.
    pub(super) fn to(client: &Client, called: Result<Called, ErrorData>) -> Self {
        match called {
            Ok(called) => Self::result(called, client),
            Err(error) => Self::refusal(error, client.request()),
        }
    }

    fn result(called: Called, client: &Client) -> Self {
        let request = client.request();
        match called {
            Called::Observation { observation, is_wrapped: false, .. }
                if observation.is_plain() =>
            {
                Self::answer(observed(&observation, request))
            }
            called => {
                let mut result = ServerResult::from(called.into_response(client.name()));
                if !request.is_modern() {
                    result.strip_result_type_for_legacy_peer();
                }
                let result = passing::whole(result);
                Self::written(&JsonRpcMessage::response(result, request.id().clone()))
            }
        }
    }

    fn refusal(error: ErrorData, request: &Request) -> Self {
        let status = status(error.code, request.is_modern());
        let message = JsonRpcMessage::error(error, Some(request.id().clone()));
        Self { status, ..Self::written(&message) }
    }

    fn written(message: &ServerJsonRpcMessage) -> Self {
        Self::answer(serde_json::to_string(message).expect("messages of JSON are JSON"))
    }

    fn answer(json: String) -> Self {
        Self { json, is_last: true, status: StatusCode::OK }
    }

    /// As the whole of an answer.
    pub(super) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

/// What a tool gave back, written as rmcp would, without a detour by its types.
fn observed(observation: &Observation, request: &Request) -> String {
    let mut json = String::from(r#"{"jsonrpc":"2.0","id":"#);
    json.push_str(&serde_json::to_string(request.id()).expect("ids are JSON"));
    json.push_str(r#","result":{"#);
    if request.is_modern() {
        json.push_str(r#""resultType":"complete","#);
    }
    observation.write_members(&mut json);
    json.push_str("}}");
    json
}

/// Refusals that intermediaries should see have statuses of their own in 2026-07-28.
fn status(code: ErrorCode, is_modern: bool) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH
            if is_modern =>
        {
            StatusCode::BAD_REQUEST
        }
        ErrorCode::METHOD_NOT_FOUND if is_modern => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
