//! The call that is repeated under load.

use crate::protocol_version::ProtocolVersion;
use serde_json::{Value, json};

/// A call, and the expected answer.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
    /// The expected text of the first content block, if known.
    pub expected: Option<String>,
}

impl Call {
    /// A call without arguments and without an expected answer.
    pub fn without_arguments(tool: String) -> Self {
        Self { tool, arguments: json!({}), expected: None }
    }

    /// Adds two numbers; the result is an object.
    pub fn add() -> Self {
        Self {
            tool: "add".to_owned(),
            arguments: json!({ "a": 2, "b": 3 }),
            expected: Some(r#"{"result":5}"#.to_owned()),
        }
    }

    /// Echoes a string.
    pub fn echo(text: &str) -> Self {
        Self {
            tool: "echo".to_owned(),
            arguments: json!({ "text": text }),
            expected: Some(text.to_owned()),
        }
    }

    /// The request as text, without its id.
    pub(crate) fn template(&self, version: ProtocolVersion) -> Template {
        let mut params = json!({ "name": self.tool, "arguments": self.arguments });
        if let Some(meta) = version.meta() {
            params["_meta"] = meta;
        }
        Template { rest: format!(r#","method":"tools/call","params":{params}}}"#) }
    }
}

/// A request without its id.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    rest: String,
}

impl Template {
    /// The request with this id.
    pub(crate) fn with(&self, id: u64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id}{}"#, self.rest)
    }
}
