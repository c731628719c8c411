//! Questions of a server, and answers of a test.

use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Mutex;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::ProtocolError;

/// A request of a server to its client: a form or page for the user, sampling, or roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    key: Option<String>,
    method: String,
    params: Value,
}

impl Question {
    pub(super) fn new(key: Option<String>, method: String, params: Value) -> Self {
        Self { key, method, params }
    }

    /// The key of the question. Only clients of 2026-07-28 receive it.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The request's parameters, as MCP defines them for the method.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// The message for the user; empty for other requests.
    pub fn message(&self) -> &str {
        self.params["message"].as_str().unwrap_or_default()
    }
}

/// The answer of a client to a [`Question`].
#[derive(Clone, Debug, PartialEq)]
pub struct Reply(Result<Value, ProtocolError>);

impl Reply {
    /// The user filled in the form with these fields; `()` for a question without a form.
    ///
    /// # Panics
    /// The fields cannot be serialized.
    ///
    /// ```
    /// use tool_runtime::testing::Reply;
    ///
    /// Reply::accept(serde_json::json!({ "city": "Graz" }));
    /// Reply::accept(());
    /// ```
    pub fn accept(fields: impl Serialize) -> Self {
        let fields = serde_json::to_value(fields).expect("the fields of a form are JSON");
        let mut result = json!({ "action": "accept" });
        if !fields.is_null() {
            result["content"] = fields;
        }
        Self::result(result)
    }

    /// The user declined.
    pub fn decline() -> Self {
        Self::result(json!({ "action": "decline" }))
    }

    /// The user closed the question without an answer.
    pub fn cancel() -> Self {
        Self::result(json!({ "action": "cancel" }))
    }

    /// A text of the client's model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::result(json!({
            "role": "assistant",
            "content": { "type": "text", "text": text.into() },
            "model": "test-model",
            "stopReason": "endTurn",
        }))
    }

    /// Roots of the client: `file://` URIs.
    pub fn roots<U: Into<String>>(uris: impl IntoIterator<Item = U>) -> Self {
        let roots = uris.into_iter().map(|uri| json!({ "uri": uri.into() }));
        Self::result(json!({ "roots": roots.collect::<Vec<_>>() }))
    }

    /// Any result, also one that MCP does not define.
    pub fn result(result: impl Into<Value>) -> Self {
        Self(Ok(result.into()))
    }

    /// An error. Clients of 2026-07-28 cannot send one: the call ends with it instead.
    pub fn error(error: ProtocolError) -> Self {
        Self(Err(error))
    }

    pub(super) fn into_outcome(self) -> Result<Value, ProtocolError> {
        self.0
    }
}

/// The handler of questions that the test sets.
pub(super) type Handler = Box<dyn Fn(Question) -> BoxFuture<'static, Reply> + Send + Sync>;

/// Answers questions and records them.
#[derive(Default)]
pub(super) struct QuestionHandler {
    handler: Option<Handler>,
    asked: Mutex<Vec<Question>>,
}

impl QuestionHandler {
    pub(super) fn new(handler: Option<Handler>) -> Self {
        Self { handler, asked: Mutex::default() }
    }

    pub(super) fn asked(&self) -> Vec<Question> {
        lock(&self.asked).clone()
    }

    pub(super) async fn reply(&self, question: Question) -> Reply {
        if question.method == "ping" {
            return Reply::result(json!({}));
        }
        lock(&self.asked).push(question.clone());
        match &self.handler {
            Some(handler) => handler(question).await,
            None => default_reply(&question),
        }
    }
}

/// The reply of a client without a handler.
fn default_reply(question: &Question) -> Reply {
    match question.method() {
        "elicitation/create" => Reply::decline(),
        "roots/list" => Reply::roots([""; 0]),
        "sampling/createMessage" => {
            Reply::error(ProtocolError::new(-1, "the user rejected the sampling request"))
        }
        method => Reply::error(ProtocolError::new(-32601, format!("unknown method `{method}`"))),
    }
}
