//! Logs rejected requests of a server: the first of each method as a warning, others at debug level. rmcp would log a
//! warning for each, so errors pass it disguised as results.

use super::handler::Handler;
use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorData, JsonRpcMessage, ServerNotification,
    ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service, TxJsonRpcMessage};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;

/// The member with a disguised error.
const DISGUISED_ERROR: &str = "tool-runtime/rejected";

/// The rejected methods of one server.
#[derive(Debug, Default)]
pub(super) struct RejectedMethods(Mutex<BTreeSet<&'static str>>);

/// Answers the requests of a server, with errors disguised as results.
pub(super) struct DisguisingErrors {
    pub(super) server: Arc<str>,
    pub(super) handler: Handler,
    pub(super) rejected: Arc<RejectedMethods>,
}

impl Service<RoleClient> for DisguisingErrors {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let method = method(&request);
        match Service::handle_request(&self.handler, request, context).await {
            Err(error) => {
                self.rejected.note(&self.server, method, &error);
                Ok(ClientResult::CustomResult(CustomResult(json!({ DISGUISED_ERROR: error }))))
            }
            answered => answered,
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.handler, notification, context).await
    }

    fn get_info(&self) -> ClientConfig {
        Service::get_info(&self.handler)
    }
}

impl RejectedMethods {
    fn note(&self, server: &str, method: &'static str, error: &ErrorData) {
        let is_first = lock(&self.0).insert(method);
        // The message of another error quotes the server.
        let why = if method == OTHER { "it is not known" } else { &error.message };
        if is_first {
            tracing::warn!(
                server,
                method,
                "a request of the server is rejected: {why}; further ones are logged at level `debug`"
            );
        } else {
            tracing::debug!(server, method, "a request of the server is rejected: {why}");
        }
    }
}

const OTHER: &str = "another";

fn method(request: &ServerRequest) -> &'static str {
    match request {
        ServerRequest::PingRequest(_) => "ping",
        ServerRequest::CreateMessageRequest(_) => "sampling/createMessage",
        ServerRequest::ListRootsRequest(_) => "roots/list",
        ServerRequest::ElicitRequest(_) => "elicitation/create",
        _ => OTHER,
    }
}

/// The message with a disguised error restored.
pub(super) fn undisguised(message: TxJsonRpcMessage<RoleClient>) -> TxJsonRpcMessage<RoleClient> {
    let JsonRpcMessage::Response(response) = message else { return message };
    match response.result {
        ClientResult::CustomResult(CustomResult(Value::Object(mut members)))
            if members.contains_key(DISGUISED_ERROR) =>
        {
            let error =
                members.remove(DISGUISED_ERROR).map(serde_json::from_value).and_then(Result::ok);
            let error = error.unwrap_or_else(|| ErrorData::internal_error("rejected", None));
            JsonRpcMessage::error(error, Some(response.id))
        }
        _ => JsonRpcMessage::Response(response),
    }
}
