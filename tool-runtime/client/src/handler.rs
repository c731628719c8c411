//! Answers requests of a server of a version before 2026-07-28.

#![expect(deprecated, reason = "servers before 2026-07-28 send requests")]

use super::in_flight_call::InFlightCall;
use super::notification_router::NotificationRouter;
use super::server_requests::{Answerer, elicitation};
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, Implementation, ListRootsResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::tool::peer::{PeerCapability, PeerError, PeerRequest};

/// Limit on open questions of a server.
const MAX_OPEN: usize = 8;

/// Client information and the handler of server requests, for one connection.
pub(super) struct Handler {
    config: ClientConfig,
    server: Arc<str>,
    answerer: Answerer,
    notifications: Arc<NotificationRouter>,
    /// Cancelled when the connection has ended.
    ended: CancellationToken,
    /// Permits for more questions.
    permits: Semaphore,
}

impl Handler {
    pub(super) fn new(
        client: Implementation,
        server: Arc<str>,
        answerer: Answerer,
        notifications: Arc<NotificationRouter>,
        ended: CancellationToken,
    ) -> Self {
        let config = ClientConfig::new(answerer.capabilities(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let permits = Semaphore::new(MAX_OPEN);
        Self { config, server, answerer, notifications, ended, permits }
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        mut params: Map<String, Value>,
        capability: PeerCapability,
        context: &RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let Ok(_permit) = self.permits.try_acquire() else {
            let text = format!("{MAX_OPEN} questions wait for an answer already");
            return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, text, None));
        };
        let call = self.notifications.only_call();
        let key = match &call {
            Some(call) => call.next_question(&self.server),
            None => self.server.to_string(),
        };
        self.notifications.redactors().results.members(&mut params);
        let request = PeerRequest::new(key, capability, params);
        // A cancelled question is not passed on.
        let answer = tokio::select! {
            answer = self.answerer.answer(request, call.as_deref()) => answer,
            () = self.cancelled(call.as_ref(), context) => {
                Err(PeerError::Failed("no call waits for the answer any more".to_owned()))
            }
        };
        let answer = answer
            .map_err(|error| ErrorData::new(ErrorCode::INVALID_REQUEST, error.to_string(), None))?;
        serde_json::from_value(answer).map_err(|error| {
            ErrorData::internal_error(
                format!("the answer does not match MCP's schema: {error}"),
                None,
            )
        })
    }

    /// Waits until the question is cancelled.
    async fn cancelled(
        &self,
        call: Option<&Arc<InFlightCall>>,
        context: &RequestContext<RoleClient>,
    ) {
        tokio::select! {
            () = self.ended.cancelled() => {}
            () = context.ct.cancelled() => {}
            () = self.notifications.call_ended(call) => {}
        }
    }
}

fn fields(params: &impl Serialize) -> Result<Map<String, Value>, ErrorData> {
    match serde_json::to_value(params) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(ErrorData::invalid_params("the parameters are not an object", None)),
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer(fields(&params)?, PeerCapability::Sampling, &context).await
    }

    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.answer(Map::new(), PeerCapability::Roots, &context).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let fields = fields(&params)?;
        let capability = elicitation(&fields);
        self.answer(fields, capability, &context).await
    }
}
