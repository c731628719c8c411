//! A request of a tool to its caller.

use super::{PeerCapability, PeerError};
use crate::tool::context::ToolContext;
use serde_json::{Map, Value};

/// A request of a tool to its caller, as in MCP.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerRequest {
    key: String,
    capability: PeerCapability,
    params: Map<String, Value>,
    is_single_use: bool,
}

impl PeerRequest {
    #[doc(hidden)]
    pub fn new(
        key: impl Into<String>,
        capability: PeerCapability,
        params: Map<String, Value>,
    ) -> Self {
        Self { key: key.into(), capability, params, is_single_use: false }
    }

    /// Lets an answer count once, for the call that asked: it allows something.
    #[must_use]
    #[doc(hidden)]
    pub fn single_use(mut self) -> Self {
        self.is_single_use = true;
        self
    }

    /// Whether an answer counts once.
    #[doc(hidden)]
    pub fn is_single_use(&self) -> bool {
        self.is_single_use
    }

    /// The question's key, unique within one call of the peer. Questions of nested calls have a prefix: `2/sure` is
    /// `sure` of the second call that the tool made.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The capability needed to answer it.
    pub fn capability(&self) -> PeerCapability {
        self.capability
    }

    /// The method: `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub fn method(&self) -> &'static str {
        match self.capability {
            PeerCapability::Elicitation | PeerCapability::ElicitationUrl => "elicitation/create",
            PeerCapability::Sampling => "sampling/createMessage",
            PeerCapability::Roots => "roots/list",
        }
    }

    /// The parameters, as MCP defines them for the method.
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// The request's key and its parameters.
    pub fn into_parts(self) -> (String, Map<String, Value>) {
        (self.key, self.params)
    }
}

impl ToolContext {
    /// Whether the caller supports this capability. Check it first in a tool that also works
    /// without an answer.
    ///
    /// ```
    /// use tool_runtime::peer::PeerCapability;
    /// use tool_runtime::prelude::*;
    ///
    /// assert!(!ToolContext::default().can_ask(PeerCapability::Elicitation));
    /// ```
    pub fn can_ask(&self, capability: PeerCapability) -> bool {
        self.peer().is_some_and(|peer| peer.can(capability))
    }

    /// Sends a request to the caller. The keys of a nested call get a prefix.
    ///
    /// # Errors
    /// The peer does not support the request, or does not answer.
    #[doc(hidden)]
    pub async fn send_request(&self, mut request: PeerRequest) -> Result<Value, PeerError> {
        request.key = self.question_key(&request.key).into_owned();
        if let Some(mask) = self.mask() {
            request.params.values_mut().for_each(|value| mask.value(value));
        }
        let capability = request.capability();
        match self.peer().filter(|peer| peer.can(capability)) {
            Some(peer) => peer.request(request).await,
            None => Err(PeerError::Unsupported(capability)),
        }
    }
}
