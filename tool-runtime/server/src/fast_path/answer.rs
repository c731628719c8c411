//! Answers as JSON text.

use crate::call_result::CallOutcome;
use crate::client::Client;
use crate::exact;
use crate::passthrough;
use crate::request::Request;
use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use tool_runtime_core::tool::Observation;

/// Most answers fit into this number of bytes.
const USUAL_LENGTH: usize = 512;

/// The answer to a call.
pub(crate) struct Answer {
    /// A JSON-RPC response.
    pub(crate) json: String,
    /// The code of an error, which HTTP maps to a status.
    #[cfg_attr(not(feature = "http"), allow(dead_code))]
    pub(crate) code: Option<ErrorCode>,
}

impl Answer {
    pub(crate) fn new(client: &Client, called: Result<CallOutcome, ErrorData>) -> Self {
        match called {
            Ok(called) => Self { json: result(called, client), code: None },
            Err(error) => Self::error(error, client.request()),
        }
    }

    /// An error instead of a result.
    pub(crate) fn error(error: ErrorData, request: &dyn Request) -> Self {
        let code = Some(error.code);
        let message = JsonRpcMessage::error(error, Some(request.id().clone()));
        Self { json: to_json(&message), code }
    }
}

/// A message as rmcp writes it.
pub(crate) fn to_json(message: &ServerJsonRpcMessage) -> String {
    serde_json::to_string(message).expect("messages of JSON are JSON")
}

fn result(called: CallOutcome, client: &Client) -> String {
    let request = client.request();
    match called {
        CallOutcome::Observation { observation, is_wrapped: false, .. }
            if observation.is_plain() =>
        {
            plain_result(&observation, request)
        }
        called => {
            let mut result = ServerResult::from(called.into_response(client.name()));
            if !request.is_stateless() {
                result.strip_result_type_for_legacy_peer();
            }
            let message =
                JsonRpcMessage::response(passthrough::restore_result(result), request.id().clone());
            match exact::message(&message).filter(|_| request.keeps_big_integers()) {
                Some(exact) => exact.get().to_owned(),
                None => to_json(&message),
            }
        }
    }
}

/// The result of a tool as rmcp would write it.
fn plain_result(observation: &Observation, request: &dyn Request) -> String {
    let mut json = String::with_capacity(USUAL_LENGTH);
    json.push_str(r#"{"jsonrpc":"2.0","id":"#);
    match request.id() {
        RequestId::Number(id) => json.push_str(itoa::Buffer::new().format(*id)),
        id => json.push_str(&serde_json::to_string(id).expect("ids are JSON")),
    }
    json.push_str(r#","result":{"#);
    if request.is_stateless() {
        json.push_str(r#""resultType":"complete","#);
    }
    observation.write_members(&mut json);
    json.push_str("}}");
    json
}
