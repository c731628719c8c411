//! An error of the protocol instead of one for the model.

use serde_json::Value;

/// An error of the protocol. A tool that returns it fails with a JSON-RPC error instead of
/// a result with `isError`, which models can read.
///
/// Rarely appropriate: the model does not receive it. Outside MCP it is an ordinary error.
///
/// ```
/// use tool_runtime::error::ProtocolError;
/// use tool_runtime::prelude::*;
///
/// /// Read a ledger.
/// #[tool(read_only)]
/// async fn ledger() -> Result<String, ToolError> {
///     Err(ProtocolError::new(-32000, "the ledger is being rebuilt").with_data("retry in a minute"))?
/// }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProtocolError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl ProtocolError {
    /// An error with a code of JSON-RPC: -32000 to -32019 are free for servers.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data for programs.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// The code.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// Description of the error.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Data for programs.
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }
}
