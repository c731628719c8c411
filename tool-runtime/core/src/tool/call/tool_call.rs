//! A call of a tool, as a caller writes it.

use super::wire;
use crate::vocabulary::error::{CallError, ErrorClass, excerpt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// One request to run a tool. As JSON: `{"call_id":"call_1","name":"add","arguments":"{\"a\":2}"}`;
/// `arguments` is read from an object, too.
///
/// ```
/// use tool_runtime::ToolCall;
///
/// let call = ToolCall::new("add", r#"{"a": 2, "b": 40}"#).with_call_id("call_1");
/// assert_eq!(call.name(), "add");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) call_id: String,
    pub(super) name: String,
    #[serde(default, deserialize_with = "wire::arguments")]
    arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

impl ToolCall {
    /// A call by name, with its arguments as JSON text; empty text means no arguments.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (call_id, cut) = (String::new(), None);
        Self { call_id, name: name.into(), arguments: arguments.into(), cut }
    }

    /// A call by name, with its arguments as a JSON value.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::ToolCall;
    ///
    /// assert_eq!(ToolCall::json("add", json!({ "a": 2 })), ToolCall::new("add", r#"{"a":2}"#));
    /// ```
    pub fn json(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::new(name, arguments.into().to_string())
    }

    /// Sets the id by which the result is found. Default: empty.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = id.into();
        self
    }

    /// Marks a call whose arguments may be incomplete: the answer of the model was cut. It is not run; its result is
    /// an error of class [`Input`](crate::vocabulary::error::ErrorClass::Input) with this reason. Default: the call is complete.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("erase", "Erase all.").handler(|| async { "erased" }))
    ///     .build()?;
    /// let call = ToolCall::new("erase", "{}").with_cut("the limit on tokens was reached");
    /// let result = pool.call(call).await;
    /// assert_eq!(result.error().unwrap().class(), ErrorClass::Input);
    /// assert!(result.observation().to_text().contains("the limit on tokens was reached"));
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_cut(mut self, reason: impl Into<String>) -> Self {
        self.cut = Some(reason.into());
        self
    }

    /// The reason why the arguments may be incomplete. `None` for a complete call.
    pub fn cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// The same call with the id and the arguments of a tool's own schema.
    pub(crate) fn restore(self, name: &str, arguments: Option<String>) -> Self {
        let arguments = arguments.unwrap_or(self.arguments);
        Self { name: name.to_owned(), arguments, ..self }
    }

    /// # Errors
    /// The call is cut.
    pub(crate) fn check_complete(&self) -> Result<(), CallError> {
        let Some(reason) = &self.cut else { return Ok(()) };
        let text = format!(
            "`{}` was not run: {reason}, so its arguments may be incomplete; call it again, with shorter arguments if they were long",
            excerpt(&self.name)
        );
        Err(CallError::new(ErrorClass::Input, text))
    }

    /// The id by which the result is found.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as JSON text.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }
}

/// Without the arguments, which may be secret.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("call_id", &self.call_id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
