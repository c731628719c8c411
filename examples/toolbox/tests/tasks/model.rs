//! A model whose script is a function: it makes a call, waits for the result, and decides by it.

use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};
use tool_runtime::BoxFuture;
use tool_runtime::export::{Api, ApiFormat};
use tool_runtime_agent::{Model, ModelError, ModelRequest};

/// One answer of the model.
enum Turn {
    Call(String, Value),
    Text(String),
}

/// The end of the script that the model's requests are passed to.
pub(crate) struct ReactingModel {
    results: mpsc::UnboundedSender<Outcome>,
    turns: Mutex<mpsc::UnboundedReceiver<Turn>>,
}

/// The result of a call.
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// The end that a script has.
pub(crate) struct Script {
    results: mpsc::UnboundedReceiver<Outcome>,
    turns: mpsc::UnboundedSender<Turn>,
}

impl ReactingModel {
    /// A model that follows a function, whose value is its last message.
    pub(crate) fn new<F>(script: impl FnOnce(Script) -> F) -> Self
    where
        F: Future<Output = String> + Send + 'static,
    {
        let (sender, turns) = mpsc::unbounded_channel();
        let (results, receiver) = mpsc::unbounded_channel();
        let last = sender.clone();
        let script = script(Script { results: receiver, turns: sender });
        tokio::spawn(async move { drop(last.send(Turn::Text(script.await))) });
        Self { results, turns: Mutex::new(turns) }
    }
}

impl Script {
    /// Calls a tool of the server.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Outcome {
        self.turns.send(Turn::Call(format!("toolbox.{tool}"), arguments)).unwrap();
        self.results.recv().await.unwrap()
    }

    /// The text of a call that succeeds.
    #[track_caller]
    pub(crate) fn ok(
        &mut self,
        tool: &str,
        arguments: Value,
    ) -> impl Future<Output = String> + Send {
        let (caller, tool) = (std::panic::Location::caller(), tool.to_owned());
        async move {
            let outcome = self.call(&tool, arguments).await;
            assert!(!outcome.is_error, "{caller}: {}", outcome.text);
            outcome.text
        }
    }
}

impl Model for ReactingModel {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        Box::pin(async move {
            if let Some(outcome) = request.messages.last().and_then(outcome) {
                self.results.send(outcome).map_err(|error| ModelError::new(error.to_string()))?;
            }
            let turn = self.turns.lock().await.recv().await;
            let content = match turn.ok_or_else(|| ModelError::new("the script has failed"))? {
                Turn::Text(text) => json!({ "type": "text", "text": text }),
                Turn::Call(tool, arguments) => json!({
                    "type": "tool_use",
                    "id": format!("call-{}", request.messages.len()),
                    "name": request.tools.wire_name(&tool),
                    "input": arguments,
                }),
            };
            Ok(json!({ "role": "assistant", "content": [content] }))
        })
    }
}

/// The result in a message, if it has one.
fn outcome(message: &Value) -> Option<Outcome> {
    let result = message["content"].as_array()?.first()?;
    let is_result = result["type"] == "tool_result";
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    let text = match &result["content"] {
        Value::Array(blocks) => blocks.iter().map(text).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    is_result.then(|| Outcome { text, is_error: result["is_error"] == true })
}
