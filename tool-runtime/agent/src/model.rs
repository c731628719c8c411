//! The model of an agent.

use crate::event::AgentEvent;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tool_runtime::BoxFuture;
use tool_runtime::export::{ApiFormat, Delta, Export};

/// A model behind an API.
///
/// Messages, definitions and responses have the API's own form; the loop converts calls and results.
///
/// ```
/// use serde_json::{Value, json};
/// use std::sync::Arc;
/// use tool_runtime::BoxFuture;
/// use tool_runtime::export::{Api, ApiFormat};
/// use tool_runtime_agent::{Model, ModelError, ModelRequest};
///
/// struct Claude { model: String }
/// # async fn post(_: Value) -> Result<Value, std::io::Error> { Ok(json!({})) }
///
/// impl Model for Claude {
///     fn format(&self) -> Arc<dyn ApiFormat> { Arc::new(Api::Anthropic.strict()) }
///
///     fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
///         Box::pin(async move {
///             let body = json!({
///                 "model": self.model,
///                 "max_tokens": 4096,
///                 "system": request.system,
///                 "tools": request.tools.definitions(),
///                 "messages": *request.messages,
///             });
///             post(body).await.map_err(ModelError::new)
///         })
///     }
/// }
/// ```
pub trait Model: Send + Sync + 'static {
    /// The format of definitions, messages and responses.
    fn format(&self) -> Arc<dyn ApiFormat>;

    /// Sends a request and gives the whole response. A model that streams reports deltas meanwhile,
    /// and assembles the response by [`ResponseStream`](tool_runtime::export::ResponseStream).
    ///
    /// # Errors
    /// The request failed. The run ends with the error and can be resumed.
    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>>;
}

/// A model that several agents share.
impl<M: Model + ?Sized> Model for Arc<M> {
    fn format(&self) -> Arc<dyn ApiFormat> {
        (**self).format()
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        (**self).answer(request)
    }
}

/// A request to a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The instructions of the agent. Empty without instructions.
    pub system: String,
    /// The conversation so far, in the form of the API.
    pub messages: Arc<Vec<Value>>,
    /// The tools of the pool at this moment, in the form of the API.
    pub tools: Arc<Export>,
    /// Takes the parts of a streamed response.
    pub deltas: Deltas,
}

impl ModelRequest {
    pub(crate) fn new(
        system: String,
        messages: Arc<Vec<Value>>,
        tools: Arc<Export>,
        events: UnboundedSender<AgentEvent>,
    ) -> Self {
        Self { system, messages, tools, deltas: Deltas(events) }
    }
}

/// Receives the parts of a streamed response, which become events of the run.
#[derive(Clone, Debug)]
pub struct Deltas(UnboundedSender<AgentEvent>);

impl Deltas {
    /// Reports a part. Parts of a run that was dropped are lost.
    pub fn send(&self, delta: Delta) {
        drop(self.0.send(AgentEvent::Delta(delta)));
    }
}

/// A request that failed.
#[derive(thiserror::Error)]
#[error("the model could not be asked: {0}")]
pub struct ModelError(#[source] Box<dyn std::error::Error + Send + Sync>);

tool_runtime::__private::debug_as_message!(ModelError);

impl ModelError {
    /// An error with its cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}
