//! A model that follows a script.

use crate::model::{Model, ModelError, ModelRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::BoxFuture;
use tool_runtime::export::{Api, ApiFormat, Delta};

/// A model with scripted responses, for tests and examples: a JSON list of turns, each with a `text`,
/// with `calls`, or with both. Names are the ids of tools.
///
/// A request beyond the last turn is an error. The front page has an example.
#[derive(Debug)]
pub struct ScriptedModel {
    turns: Vec<Turn>,
    next: AtomicUsize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<Call>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// A script that cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The text is not a list of turns.
    #[error("the script is not a list of turns: {0}")]
    Invalid(#[from] serde_json::Error),
}

tool_runtime::__private::debug_as_message!(ScriptError);

impl ScriptedModel {
    /// Reads a script.
    ///
    /// # Errors
    /// The text is not a list of turns.
    pub fn from_json(script: &str) -> Result<Self, ScriptError> {
        Ok(Self { turns: serde_json::from_str(script)?, next: AtomicUsize::default() })
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a list of turns.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        Self::from_json(&std::fs::read_to_string(path)?)
    }

    fn next_turn(&self) -> Option<(usize, Turn)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Some((index + 1, self.turns.get(index).cloned()?))
    }
}

impl Model for ScriptedModel {
    fn format(&self) -> Arc<dyn ApiFormat> {
        Arc::new(Api::Anthropic)
    }

    fn answer(&self, request: ModelRequest) -> BoxFuture<'_, Result<Value, ModelError>> {
        Box::pin(async move {
            let (number, turn) =
                self.next_turn().ok_or_else(|| ModelError::new("the script has no more turns"))?;
            let mut content = Vec::new();
            if !turn.text.is_empty() {
                request.deltas.send(Delta::Text(turn.text.clone()));
                content.push(json!({ "type": "text", "text": turn.text }));
            }
            for (index, call) in turn.calls.into_iter().enumerate() {
                content.push(json!({
                    "type": "tool_use",
                    "id": format!("call-{number}-{index}"),
                    "name": request.tools.wire_name(&call.name),
                    "input": call.arguments,
                }));
            }
            Ok(json!({ "role": "assistant", "content": content }))
        })
    }
}
