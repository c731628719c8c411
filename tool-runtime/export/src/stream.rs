//! A streamed response, assembled from its events.

mod anthropic;
mod chat;
mod gemini;
mod merge;
mod responses;

use crate::api::Api;
use serde_json::{Map, Value, json};
use std::vec;

/// A streamed response of a model. It takes the events one by one and ends as the response that the API
/// would have given without streaming, for [`Export::calls`](tool_runtime_core::tool::export::Export::calls).
///
/// ```
/// use tool_runtime::export::{ResponseStream, Api, Delta};
///
/// let mut stream = ResponseStream::new(Api::OpenAiChat);
/// let line = r#"data: {"choices":[{"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
/// assert!(stream.push_line(line)?.eq([Delta::Text("Hi".into())]));
/// stream.push_line("data: [DONE]")?;
/// let response = stream.finish()?;
/// assert_eq!(response["choices"][0]["message"]["content"], "Hi");
/// # Ok::<(), tool_runtime::export::StreamError>(())
/// ```
#[derive(Debug)]
pub struct ResponseStream {
    api: Api,
    response: Value,
    is_ended: bool,
}

/// A change by an event, for display during generation. One event may carry several.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// Text of the response.
    Text(String),
    /// Text of the model's reasoning.
    Thought(String),
    /// The name of a tool that the model begins to call, as the model writes it.
    Call(String),
}

/// The changes by one event, in their order. Returned by [`ResponseStream::push`].
#[derive(Clone, Debug)]
pub struct EventDeltas(vec::IntoIter<Delta>);

impl Iterator for EventDeltas {
    type Item = Delta;

    fn next(&mut self) -> Option<Delta> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for EventDeltas {}

/// A stream that cannot be assembled.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
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
    /// The API does not stream responses.
    #[error("the API does not stream responses")]
    NotStreamed,
}

tool_runtime_core::debug_as_message!(StreamError);

impl ResponseStream {
    /// A stream without events.
    pub fn new(api: Api) -> Self {
        Self { api, response: Value::Object(Map::new()), is_ended: false }
    }

    /// Adds a line of the stream, as server-sent events have it. Lines without data are skipped.
    ///
    /// # Errors
    /// The line's data is not JSON, or as in [`Self::push`].
    pub fn push_line(&mut self, line: &str) -> Result<EventDeltas, StreamError> {
        let line = line.trim_start_matches('\u{feff}');
        let data = line.strip_prefix("data:").or_else(|| line.strip_prefix("error:"));
        // Some servers respond only by an error, without events.
        let data = data.unwrap_or(if line.starts_with('{') { line } else { "" }).trim();
        let deltas = match data {
            "" => Vec::new(),
            "[DONE]" => {
                // Some servers compatible with OpenAI's end without a reason.
                self.is_ended |= self.api == Api::OpenAiChat && self.response["choices"].is_array();
                Vec::new()
            }
            data => {
                let excerpt = || StreamError::NotJson(data.chars().take(100).collect());
                self.add(&serde_json::from_str(data).map_err(|_| excerpt())?)?
            }
        };
        Ok(EventDeltas(deltas.into_iter()))
    }

    /// Adds an event, and returns its changes in their order.
    ///
    /// # Errors
    /// The event is an error of the API, or the API does not stream.
    pub fn push(&mut self, event: &Value) -> Result<EventDeltas, StreamError> {
        self.add(event).map(|deltas| EventDeltas(deltas.into_iter()))
    }

    fn add(&mut self, event: &Value) -> Result<Vec<Delta>, StreamError> {
        let nothing = [Value::Null, Value::Bool(false), json!(""), json!({})];
        let is_error = |error: &&Value| !nothing.contains(error);
        let failure = event.get("error").filter(is_error);
        let failure = failure.or_else(|| (event["type"] == "error").then_some(event));
        let failure = failure.or_else(|| event.pointer("/response/error").filter(is_error));
        if let Some(error) = failure {
            let message = error["message"].as_str().or(error.as_str()).map(str::to_owned);
            return Err(StreamError::Api(message.unwrap_or_else(|| error.to_string())));
        }
        let (response, is_ended) = (&mut self.response, &mut self.is_ended);
        match self.api {
            Api::Anthropic => Ok(anthropic::push(response, is_ended, event)),
            Api::OpenAiChat => Ok(chat::push(response, is_ended, event)),
            Api::OpenAiResponses => Ok(responses::push(response, is_ended, event)),
            Api::Gemini => Ok(gemini::push(response, is_ended, event)),
            Api::Mcp => Err(StreamError::NotStreamed),
        }
    }

    /// The whole response.
    ///
    /// # Errors
    /// The last event is missing: the connection was lost.
    pub fn finish(mut self) -> Result<Value, StreamError> {
        if !self.is_ended {
            return Err(StreamError::Incomplete);
        }
        match self.api {
            Api::Anthropic => anthropic::finish(&mut self.response),
            Api::OpenAiChat => chat::finish(&mut self.response),
            Api::OpenAiResponses => responses::finish(&mut self.response),
            _ => {}
        }
        Ok(self.response)
    }
}

/// Appends a string to a member.
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

/// The index by which events name an entry of a list, until the response is whole.
const INDEX: &str = "index in the stream";

/// A list of a response; a value of another kind, which no API sends, becomes a list.
fn list(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut().expect("a list")
}

/// Adds an entry to a list, unless the list is full.
fn add_entry(list: &mut Vec<Value>, entry: Value) -> Option<&mut Value> {
    if list.len() >= MAX_ENTRIES || !entry.is_object() {
        return None;
    }
    list.push(entry);
    list.last_mut()
}

/// Removes the indexes of the stream.
fn remove_indexes(list: Option<&mut Value>) {
    for entry in list.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.shift_remove(INDEX);
        }
    }
}

/// A text that is not empty.
fn words(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}
