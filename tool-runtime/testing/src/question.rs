//! Questions of a server, and answers of a test.

use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Mutex;
use tool_runtime_core::seam::lock;
use tool_runtime_core::{BoxFuture, ProtocolError};

/// What a server asks: to show its user a form or a page, to ask its model, to name its roots.
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

    /// What the tool calls the question. Only clients of 2026-07-28 learn it.
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

    /// What a person is asked; empty for what is not asked of a person.
    pub fn message(&self) -> &str {
        self.params["message"].as_str().unwrap_or_default()
    }
}

/// What a client answers to a [`Question`].
#[derive(Clone, Debug, PartialEq)]
pub struct Reply(Result<Value, ProtocolError>);

impl Reply {
    /// The person filled in the form, with these fields; `()` for a question without a form.
    ///
    /// # Panics
    /// The fields are nothing that JSON can say.
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

    /// The person said no.
    pub fn decline() -> Self {
        Self::result(json!({ "action": "decline" }))
    }

    /// The person closed the question without a choice.
    pub fn cancel() -> Self {
        Self::result(json!({ "action": "cancel" }))
    }

    /// The client's model said this.
    pub fn text(text: impl Into<String>) -> Self {
        Self::result(json!({
            "role": "assistant",
            "content": { "type": "text", "text": text.into() },
            "model": "test-model",
            "stopReason": "endTurn",
        }))
    }

    /// The client works in these folders: `file://` URIs.
    pub fn roots<U: Into<String>>(uris: impl IntoIterator<Item = U>) -> Self {
        let roots = uris.into_iter().map(|uri| json!({ "uri": uri.into() }));
        Self::result(json!({ "roots": roots.collect::<Vec<_>>() }))
    }

    /// Any result, also one that MCP does not allow.
    pub fn result(result: impl Into<Value>) -> Self {
        Self(Ok(result.into()))
    }

    /// An error. Clients of 2026-07-28 have no way to send one: they give their call up, which
    /// then ends with it.
    pub fn error(error: ProtocolError) -> Self {
        Self(Err(error))
    }

    pub(super) fn into_outcome(self) -> Result<Value, ProtocolError> {
        self.0
    }
}

/// How a test answers.
pub(super) type Handler = Box<dyn Fn(Question) -> BoxFuture<'static, Reply> + Send + Sync>;

/// Who answers questions, and remembers them.
#[derive(Default)]
pub(super) struct Desk {
    handler: Option<Handler>,
    asked: Mutex<Vec<Question>>,
}

impl Desk {
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
            None => refusal(&question),
        }
    }
}

/// What a client says whose user wants nothing.
fn refusal(question: &Question) -> Reply {
    match question.method() {
        "elicitation/create" => Reply::decline(),
        "roots/list" => Reply::roots([""; 0]),
        "sampling/createMessage" => {
            Reply::error(ProtocolError::new(-1, "the user rejected the sampling request"))
        }
        method => Reply::error(ProtocolError::new(-32601, format!("unknown method `{method}`"))),
    }
}
