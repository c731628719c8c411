//! rmcp's service around the handler, for results that rmcp's types cannot say.

use super::handler::PoolHandler;
use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorData, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The handler as rmcp's service. A handler may leave the result of its request as JSON: rmcp's
/// types of what a client is asked drop what they do not know.
#[derive(Clone, Debug)]
pub(super) struct PoolService(pub(super) PoolHandler);

/// Where a handler leaves a result that goes to the client as it is, in the request's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer(Arc<OnceLock<Value>>);

impl Answer {
    /// Leaves the result of a request. The first one counts.
    ///
    /// # Panics
    /// The request did not come by [`PoolService`].
    pub(super) fn leave(request: &RequestContext<RoleServer>, result: Value) {
        let answer = request.extensions.get::<Self>();
        drop(answer.expect("every request comes by the service").0.set(result));
    }
}

impl Service<RoleServer> for PoolService {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let answer = Answer::default();
        context.extensions.insert(answer.clone());
        let result = self.0.handle_request(request, context).await;
        match answer.0.get() {
            Some(json) if result.is_ok() => Ok(CustomResult::new(json.clone()).into()),
            _ => result,
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
