//! Requests and responses.

use crate::error::GenaiError;
use crate::format::{GenaiFormat, ModelResponse};
use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, MessageContent, StopReason,
    StreamEnd,
};
use genai::{Client, ClientBuilder, ModelIden};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::BoxFuture;
use tool_runtime::export::{ApiFormat, Delta};
use tool_runtime_agent::{Deltas, Model, ModelError, ModelRequest};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A model of [`genai`], chosen by its name.
///
/// The name selects the API, by genai's rules: `claude-..`, `gpt-..`, `gemini-..`, or a namespace
/// as in `groq::llama-3.3-70b-versatile`; anything else is a model of Ollama on this machine. Keys
/// are read from the environment, such as `OPENAI_API_KEY`.
///
/// Answers are streamed. Reasoning and its signatures are sent back with the next request. Dropping
/// a run ends the HTTP request. Nothing is retried:
/// [`Agent::retry`](tool_runtime_agent::Agent::retry) continues a conversation.
///
/// Results are text except for Anthropic, which also gets images.
#[derive(Clone)]
pub struct GenaiModel {
    client: Client,
    model: ModelIden,
    options: ChatOptions,
    is_streamed: bool,
    is_strict: bool,
}

impl GenaiModel {
    /// A model with a client of [`Self::client_builder`].
    ///
    /// # Errors
    /// This machine trusts no certificate.
    pub fn new(name: &str) -> Result<Self, ModelError> {
        let client = Self::client_builder()?.build().map_err(model_error)?;
        Self::with_client(client, name)
    }

    /// A model with a client: with keys, endpoints or a proxy of its own.
    ///
    /// # Errors
    /// genai does not know the model.
    pub fn with_client(client: Client, name: &str) -> Result<Self, ModelError> {
        let model = client.default_model(name).map_err(model_error)?;
        let options = ChatOptions::default();
        Ok(Self { client, model, options, is_streamed: true, is_strict: false })
    }

    /// A builder of clients that trust the certificates of this machine.
    ///
    /// genai is compiled without TLS of its own, so a client of `genai::Client::builder()` reaches no
    /// `https` endpoint.
    ///
    /// # Errors
    /// This machine trusts no certificate.
    pub fn client_builder() -> Result<ClientBuilder, ModelError> {
        let http = http_client().map_err(|error| {
            ModelError::new(GenaiError::new(format!("no HTTP client can be made: {error}")))
        })?;
        Ok(Client::builder().with_reqwest(http))
    }

    /// Sets genai's options: temperature, reasoning effort, limits.
    ///
    /// Answers are always captured completely. Reasoning is requested unless
    /// `capture_reasoning_content` is `false`; set that for a model that rejects such a request.
    #[must_use]
    pub fn options(mut self, options: ChatOptions) -> Self {
        self.options = options;
        self
    }

    /// Lets the API enforce schemas, as
    /// [`Api::strict`](tool_runtime::export::Api::strict) does.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Requests whole responses instead of streamed ones.
    #[must_use]
    pub fn whole_answers(mut self) -> Self {
        self.is_streamed = false;
        self
    }

    async fn whole(&self, request: ChatRequest) -> Result<ModelResponse, GenaiError> {
        let options = self.reasoning_options();
        let response = self.client.exec_chat(&self.model, request, Some(&options)).await;
        let response = response.map_err(GenaiError::from_genai)?;
        if response.content.is_empty() && response.stop_reason.is_none() {
            return Err(GenaiError::new("the answer has neither content nor a reason for its end"));
        }
        Ok(ModelResponse {
            message: message(Some(response.content), response.reasoning_content),
            usage: response.usage,
            finish_reason: word(response.stop_reason),
        })
    }

    async fn streamed(
        &self,
        request: ChatRequest,
        deltas: &Deltas,
    ) -> Result<ModelResponse, GenaiError> {
        let options = self
            .reasoning_options()
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_usage(true);
        let response = self.client.exec_chat_stream(&self.model, request, Some(&options)).await;
        let response = response.map_err(GenaiError::from_genai)?;
        match watch(response.stream, deltas).await? {
            Some(end) if end.captured_stop_reason.is_some() || !self.gives_reason() => {
                Ok(ModelResponse {
                    message: message(end.captured_content, end.captured_reasoning_content),
                    usage: end.captured_usage.unwrap_or_default(),
                    finish_reason: word(end.captured_stop_reason),
                })
            }
            _ => Err(GenaiError::new("the stream ended before the answer was whole")),
        }
    }

    /// The options, with reasoning unless they say otherwise: its signatures are sent back with the
    /// next request.
    fn reasoning_options(&self) -> ChatOptions {
        let wants_reasoning = self.options.capture_reasoning_content.unwrap_or(true);
        self.options.clone().with_capture_reasoning_content(wants_reasoning)
    }

    /// Whether each complete response has a stop reason. For these APIs, genai reports a truncated
    /// stream like a complete one.
    fn gives_reason(&self) -> bool {
        matches!(
            self.model.adapter_kind,
            AdapterKind::Gemini | AdapterKind::GeminiIx | AdapterKind::OpenAIResp
        )
    }
}

impl Model for GenaiModel {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(GenaiFormat { kind: self.model.adapter_kind, is_strict: self.is_strict })
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        Box::pin(async move {
            let chat = chat_request(&request).map_err(ModelError::new)?;
            let response = if self.is_streamed {
                self.streamed(chat, &request.deltas).await
            } else {
                self.whole(chat).await
            };
            let response = response.map_err(ModelError::new)?;
            serde_json::to_value(response).map_err(ModelError::new)
        })
    }
}

/// Without the client, which may have keys.
impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel")
            .field("model", &self.model)
            .field("is_streamed", &self.is_streamed)
            .field("is_strict", &self.is_strict)
            .finish_non_exhaustive()
    }
}

fn model_error(error: genai::Error) -> ModelError {
    ModelError::new(GenaiError::from_genai(error))
}

fn chat_request(request: &ModelRequest) -> serde_json::Result<ChatRequest> {
    let messages: Result<Vec<_>, _> =
        request.messages.iter().map(ChatMessage::deserialize).collect();
    let mut chat = ChatRequest::new(messages?);
    if !request.system.is_empty() {
        chat = chat.with_system(&request.system);
    }
    if !request.tools.definitions().is_empty() {
        chat = chat.with_tools(request.tools.to_types::<genai::chat::Tool>()?);
    }
    Ok(chat)
}

/// The message of a response. Reasoning that is not part of its content follows, as some APIs want it
/// back.
fn message(content: Option<MessageContent>, reasoning: Option<String>) -> ChatMessage {
    let content = content.unwrap_or_default();
    let has_reasoning = content.contains_reasoning_content();
    let reasoning = reasoning.filter(|text| !has_reasoning && !text.is_empty());
    ChatMessage::assistant(content).with_reasoning_content(reasoning)
}

/// The API's word for the reason why a response ended.
fn word(reason: Option<StopReason>) -> String {
    match reason {
        Some(
            StopReason::Completed(word)
            | StopReason::MaxTokens(word)
            | StopReason::ToolCall(word)
            | StopReason::ContentFilter(word)
            | StopReason::StopSequence(word)
            | StopReason::Other(word),
        ) => word,
        None => String::new(),
    }
}

/// Reports the parts of a streamed response, and returns its end; `None` if the stream has no end.
async fn watch(mut stream: ChatStream, deltas: &Deltas) -> Result<Option<StreamEnd>, GenaiError> {
    let mut calls = HashSet::new();
    while let Some(event) = stream.next().await {
        match event.map_err(GenaiError::from_genai)? {
            ChatStreamEvent::Chunk(chunk) => deltas.send(Delta::Text(chunk.content)),
            ChatStreamEvent::ReasoningChunk(chunk) => deltas.send(Delta::Thought(chunk.content)),
            ChatStreamEvent::ToolCallChunk(chunk) => {
                // Each chunk of a call repeats the earlier ones.
                let call = chunk.tool_call;
                if !call.fn_name.is_empty() && calls.insert(call.call_id) {
                    deltas.send(Delta::Call(call.fn_name));
                }
            }
            ChatStreamEvent::End(end) => return Ok(Some(end)),
            _ => {}
        }
    }
    Ok(None)
}

fn http_client() -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let provider = Arc::new(ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .build()?)
}
