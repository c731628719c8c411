//! Checks a call that is made later.

use super::stage::check_scopes;
use crate::pool::ToolPool;
use crate::tool::arguments::Arguments;
use crate::tool::arguments::input::InputModel;
use crate::tool::call::ToolCall;
use crate::tool::tool::Tool;
use crate::vocabulary::error::{CallError, ErrorClass};

impl ToolPool {
    /// Checks a call without making it: whether this handle and its principal see the tool, whether the arguments are
    /// valid, and what restrictions say about them. For calls that are stored and made later. Policies judge arguments,
    /// hooks run and people are asked when the call is made.
    ///
    /// # Errors
    /// The error that the call would have.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// /// Add two integers.
    /// #[tool(read_only)]
    /// async fn add(
    ///     /// First addend.
    ///     a: i64,
    ///     /// Second addend.
    ///     b: i64,
    /// ) -> i64 {
    ///     a + b
    /// }
    ///
    /// let pool = ToolPool::builder().tool::<AddAction>().build()?;
    /// assert_eq!(pool.check_call(&ToolCall::new("add", r#"{ "a": 2, "b": 40 }"#))?.name(), "add");
    /// let error = pool.check_call(&ToolCall::new("add", r#"{ "a": 2 }"#)).unwrap_err();
    /// assert_eq!(error.class(), ErrorClass::Input);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_call(&self, call: &ToolCall) -> Result<Tool, CallError> {
        call.check_complete()?;
        let found = self.find(call.name())?;
        let (tool, principal) = (found.tool(), self.shared_context().principal());
        check_scopes(tool, principal)?;
        if self.visibility().is_some_and(|sees| !sees(tool.definition(), principal)) {
            let text = format!("`{}` is not available to this caller", tool.name());
            return Err(CallError::new(ErrorClass::Denied, text));
        }
        tool.decode(call.arguments())?;
        if !tool.has_action() {
            // Closures and executors of others may check their arguments when they run.
            InputModel::from_schema(tool.definition()).check(Arguments::new(call.arguments()))?;
        }
        if let Some(rule) = found.rule() {
            rule.check(call.arguments())?;
        }
        Ok(tool.clone())
    }
}
