//! Asks the model of the caller.

use super::PeerCapability;
use super::PeerError;
use super::request::PeerRequest;
use crate::tool::context::ToolContext;
use crate::vocabulary::content::ContentBlock;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A request to the client's model: MCP's `sampling/createMessage`.
///
/// ```
/// use tool_runtime::peer::SamplingRequest;
///
/// let request = SamplingRequest::new(200)
///     .system("You are terse.")
///     .user("What is the capital of France?")
///     .set("temperature", 0.2);
/// # drop(request);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingRequest {
    messages: Vec<Value>,
    params: Map<String, Value>,
}

impl SamplingRequest {
    /// A request without messages. `max_tokens` limits the answer.
    pub fn new(max_tokens: u32) -> Self {
        let mut params = Map::new();
        params.insert("maxTokens".to_owned(), max_tokens.into());
        Self { messages: Vec::new(), params }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(self, prompt: impl Into<String>) -> Self {
        self.set("systemPrompt", prompt.into())
    }

    /// Adds a string of the user.
    #[must_use]
    pub fn user(self, text: impl Into<String>) -> Self {
        self.message("user", text.into())
    }

    /// Adds a string of the model, as an example of an answer.
    #[must_use]
    pub fn assistant(self, text: impl Into<String>) -> Self {
        self.message("assistant", text.into())
    }

    /// Sets any other parameter that MCP defines, by its name there: `temperature`,
    /// `stopSequences`, `modelPreferences`.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    fn message(mut self, role: &str, text: String) -> Self {
        self.messages.push(json!({ "role": role, "content": { "type": "text", "text": text } }));
        self
    }

    fn into_params(mut self) -> Map<String, Value> {
        self.params.insert("messages".to_owned(), self.messages.into());
        self.params
    }
}

/// The answer of the client's model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingResult {
    /// The answer. Clients may send more than one block.
    #[serde(deserialize_with = "one_or_many")]
    pub content: Vec<ContentBlock>,
    /// The model that generated the message.
    pub model: String,
    /// The reason why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, or something else.
    #[serde(default)]
    pub stop_reason: Option<String>,
}

impl SamplingResult {
    /// All text of the answer.
    pub fn text(&self) -> String {
        let blocks = self.content.iter().filter_map(ContentBlock::as_text);
        blocks.collect::<Vec<_>>().join("\n")
    }
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<ContentBlock>, D::Error> {
    let blocks = match Value::deserialize(from)? {
        Value::Array(blocks) => blocks,
        block => vec![block],
    };
    serde_json::from_value(Value::Array(blocks)).map_err(serde::de::Error::custom)
}

impl ToolContext {
    /// Asks the client's model. `key` names the question, as with [`Self::ask`], and
    /// the same applies to effects before the question. The client may show it to its user, or change it.
    ///
    /// Deprecated by MCP since 2026-07-28: call your own model where possible.
    ///
    /// # Errors
    /// The client does not support sampling, does not answer, or its answer is invalid.
    pub async fn sample(
        &self,
        key: &str,
        request: SamplingRequest,
    ) -> Result<SamplingResult, PeerError> {
        let request = PeerRequest::new(key, PeerCapability::Sampling, request.into_params());
        let answer = self.send_request(request).await?;
        serde_json::from_value(answer).map_err(|error| PeerError::malformed(key, error))
    }
}
