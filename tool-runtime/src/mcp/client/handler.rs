//! Answers what a server asks while it is connected: the older era's questions.

#![expect(deprecated, reason = "servers of the older era still log and ask")]

use super::hearing::Hearing;
use super::questions::{Answerer, elicitation};
use crate::peer::{PeerCapability, PeerRequest};
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

/// What one connection says of this program, and who answers its questions.
pub(super) struct Handler {
    config: ClientConfig,
    server: Arc<str>,
    answerer: Answerer,
    hearing: Arc<Hearing>,
}

impl Handler {
    pub(super) fn new(
        client: Implementation,
        server: Arc<str>,
        answerer: Answerer,
        hearing: Arc<Hearing>,
    ) -> Self {
        let config = ClientConfig::new(answerer.capabilities(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        Self { config, server, answerer, hearing }
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        params: Map<String, Value>,
        capability: PeerCapability,
    ) -> Result<T, ErrorData> {
        let call = self.hearing.only_call();
        let key = match &call {
            Some(call) => call.next_question(&self.server),
            None => self.server.to_string(),
        };
        let request = PeerRequest::new(key, capability, params);
        let answer = self.answerer.answer(request, call.as_deref()).await;
        let answer = answer.map_err(|error| {
            tracing::info!(server = &*self.server, "a question is not answered: {error}");
            ErrorData::new(ErrorCode::INVALID_REQUEST, error.to_string(), None)
        })?;
        serde_json::from_value(answer).map_err(|error| {
            ErrorData::internal_error(format!("the answer is not what MCP asks for: {error}"), None)
        })
    }
}

fn fields(params: &impl Serialize) -> Result<Map<String, Value>, ErrorData> {
    match serde_json::to_value(params) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(ErrorData::invalid_params("the parameters are no object", None)),
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer(fields(&params)?, PeerCapability::Sampling).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.answer(Map::new(), PeerCapability::Roots).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let fields = fields(&params)?;
        let capability = elicitation(&fields);
        self.answer(fields, capability).await
    }
}
