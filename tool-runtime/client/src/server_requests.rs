//! Forwards requests of a server to the host program or to the caller.

use super::in_flight_call::InFlightCall;
use super::redactors::Redactors;
use rmcp::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, InputRequest, JsonObject,
    RootsCapabilities, SamplingCapability, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use tool_runtime_core::tool::peer::{Peer, PeerCapability, PeerError, PeerRequest};

/// The host's handler of server requests.
#[derive(Clone, Default)]
pub(super) struct Answerer {
    /// The host program's own.
    pub(super) host: Option<Arc<dyn Peer>>,
    /// Whether requests that the host cannot answer go to the caller.
    pub(super) asks_callers: bool,
}

impl Answerer {
    /// Capabilities for the handshake.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        let (form, url) =
            (self.may(PeerCapability::Elicitation), self.may(PeerCapability::ElicitationUrl));
        if form || url {
            let mut elicitation = ElicitationCapability::default();
            elicitation.form = form.then(FormElicitationCapability::default);
            elicitation.url = url.then(UrlElicitationCapability::default);
            capabilities.elicitation = Some(elicitation);
        }
        let may = |capability| self.may(capability);
        capabilities.sampling = may(PeerCapability::Sampling).then(SamplingCapability::default);
        capabilities.roots = may(PeerCapability::Roots).then(RootsCapabilities::default);
        capabilities
    }

    /// Capabilities for a call that may continue as a task.
    pub(super) fn capabilities_with_tasks(&self) -> ClientCapabilities {
        let mut capabilities = self.capabilities();
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        capabilities
    }

    fn may(&self, capability: PeerCapability) -> bool {
        self.asks_callers || self.host.as_ref().is_some_and(|host| host.can(capability))
    }

    /// Passes a request to the host, or else to the caller.
    ///
    /// # Errors
    /// Neither supports the request.
    pub(super) async fn answer(
        &self,
        request: PeerRequest,
        call: Option<&InFlightCall>,
    ) -> Result<Value, PeerError> {
        let capability = request.capability();
        if let Some(host) = self.host.as_ref().filter(|host| host.can(capability)) {
            return host.request(request).await;
        }
        match call.filter(|_| self.asks_callers) {
            Some(call) => call.context().send_request(request).await,
            None => Err(PeerError::Unsupported(capability)),
        }
    }
}

/// Converts a question of 2026-07-28.
///
/// # Errors
/// The request is not valid MCP.
pub(super) fn question(
    key: &str,
    request: &InputRequest,
    redactors: &Redactors,
) -> Result<PeerRequest, String> {
    let value = serde_json::to_value(request).map_err(|error| error.to_string())?;
    let mut params = match value.get("params") {
        Some(Value::Object(params)) => params.clone(),
        _ => Map::new(),
    };
    redactors.results.members(&mut params);
    let capability = match request {
        InputRequest::Elicitation(_) => elicitation(&params),
        InputRequest::CreateMessage(_) => PeerCapability::Sampling,
        InputRequest::ListRoots(_) => PeerCapability::Roots,
        _ => return Err(format!("the server's request `{key}` has an unsupported type")),
    };
    Ok(PeerRequest::new(key, capability, params))
}

/// The kind of an elicitation: a form or a web page.
pub(super) fn elicitation(params: &Map<String, Value>) -> PeerCapability {
    match params.get("mode").and_then(Value::as_str) {
        Some("url") => PeerCapability::ElicitationUrl,
        _ => PeerCapability::Elicitation,
    }
}
