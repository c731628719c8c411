//! A streamed answer, assembled from its events.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use crate::api::Api;
use serde_json::{Map, Value};

/// A streamed answer of a model. It takes the events one by one and ends as the answer that the API
/// would have given without streaming, for [`Export::calls`](tool_runtime_core::Export::calls).
///
/// ```
/// use tool_runtime::export::{AnswerStream, Api, Delta};
///
/// let mut stream = AnswerStream::new(Api::OpenAiChat);
/// let line = r#"data: {"choices":[{"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
/// assert_eq!(stream.push_line(line)?, Some(Delta::Text("Hi".into())));
/// stream.push_line("data: [DONE]")?;
/// let answer = stream.finish()?;
/// assert_eq!(answer["choices"][0]["message"]["content"], "Hi");
/// # Ok::<(), tool_runtime::export::StreamError>(())
/// ```
#[derive(Debug)]
pub struct AnswerStream {
    api: Api,
    answer: Value,
    is_ended: bool,
}

/// The change by one event, for display during generation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// Text of the answer.
    Text(String),
    /// Text of the model's reasoning.
    Thought(String),
    /// The name of a tool that the model begins to call, as the model writes it.
    Call(String),
}

/// A stream that cannot be assembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// An event is not JSON, with its beginning.
    #[error("an event of the stream is not JSON: {0}")]
    NotJson(String),
    /// The API reports an error.
    #[error("the API reports an error: {0}")]
    Api(String),
    /// The stream ended before its last event.
    #[error("the stream ended before its last event")]
    Incomplete,
    /// The API does not stream answers.
    #[error("the API does not stream answers")]
    NotStreamed,
}

impl AnswerStream {
    /// A stream without events.
    pub fn new(api: Api) -> Self {
        Self { api, answer: Value::Object(Map::new()), is_ended: false }
    }

    /// Adds a line of the stream, as server-sent events have it. Lines without data are skipped.
    ///
    /// # Errors
    /// The line's data is not JSON, or as in [`Self::push`].
    pub fn push_line(&mut self, line: &str) -> Result<Option<Delta>, StreamError> {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { return Ok(None) };
        if data == "[DONE]" {
            return Ok(None);
        }
        let excerpt = || StreamError::NotJson(data.chars().take(100).collect());
        self.push(&serde_json::from_str(data).map_err(|_| excerpt())?)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// The event is an error of the API, or the API does not stream.
    pub fn push(&mut self, event: &Value) -> Result<Option<Delta>, StreamError> {
        let failure = event.get("error").filter(|error| !error.is_null());
        let failure = failure.or_else(|| event.pointer("/response/error").filter(|e| !e.is_null()));
        if let Some(error) = failure {
            let message = error["message"].as_str().map(str::to_owned);
            return Err(StreamError::Api(message.unwrap_or_else(|| error.to_string())));
        }
        let (answer, is_ended) = (&mut self.answer, &mut self.is_ended);
        match self.api {
            Api::Anthropic => Ok(anthropic::push(answer, is_ended, event)),
            Api::OpenAiChat => Ok(chat::push(answer, is_ended, event)),
            Api::OpenAiResponses => Ok(responses::push(answer, is_ended, event)),
            Api::Gemini => Ok(gemini::push(answer, is_ended, event)),
            Api::Mcp => Err(StreamError::NotStreamed),
        }
    }

    /// The whole answer.
    ///
    /// # Errors
    /// The last event is missing: the connection was lost.
    pub fn finish(mut self) -> Result<Value, StreamError> {
        if !self.is_ended {
            return Err(StreamError::Incomplete);
        }
        match self.api {
            Api::Anthropic => anthropic::finish(&mut self.answer),
            Api::OpenAiChat => chat::finish(&mut self.answer),
            _ => {}
        }
        Ok(self.answer)
    }
}

/// Appends a text to a member.
fn append(value: &mut Value, text: &str) {
    match value {
        Value::String(whole) => whole.push_str(text),
        other => *other = Value::String(text.to_owned()),
    }
}

/// A member of an object; a value of another kind, which no API sends, becomes an object.
fn member<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    &mut value[key]
}

/// The most entries of a list.
const MAX_ENTRIES: usize = 1024;

/// The entry of a list, which grows to hold it.
fn entry(list: &mut Value, index: usize) -> Option<&mut Value> {
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    let list = list.as_array_mut()?;
    if index >= MAX_ENTRIES {
        return None;
    }
    if list.len() <= index {
        list.resize(index + 1, Value::Object(Map::new()));
    }
    list.get_mut(index)
}

/// An index that an event names.
fn index(event: &Value, key: &str) -> usize {
    event[key].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default()
}
