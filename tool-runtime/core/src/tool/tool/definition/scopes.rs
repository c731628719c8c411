//! The scopes that a caller of a tool needs.

use super::ToolDefinition;
use crate::vocabulary::principal::Principal;

impl Principal {
    /// Whether the caller may use a tool: it has all scopes of the tool, or is the
    /// user whose process this is ([`Self::anonymous`]). A server with authentication
    /// restricts anonymous callers, too.
    ///
    /// ```
    /// use tool_runtime::Principal;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Delete all notes.
    /// #[tool(destructive, scope = "notes:write")]
    /// async fn clear() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<ClearAction>().build()?;
    /// let reader = pool.for_principal(Principal::new("ada").with_scopes(["notes:read"]));
    /// assert!(reader.tools().is_empty());
    /// let result = reader.call(ToolCall::new("clear", "{}")).await;
    /// assert_eq!(result.observation().to_text(), "`clear` needs the scope `notes:write`, which the caller lacks");
    /// assert!(!pool.call(ToolCall::new("clear", "{}")).await.is_error());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn may_use(&self, tool: &ToolDefinition) -> bool {
        self.missing_scopes(tool).next().is_none()
    }

    /// The scopes of a tool that the caller lacks.
    pub(crate) fn missing_scopes<'a>(
        &'a self,
        tool: &'a ToolDefinition,
    ) -> impl Iterator<Item = &'a str> {
        let needed = tool.scopes.iter().filter(|_| self.is_restricted());
        needed.filter(|scope| !self.has_scope(scope)).map(String::as_str)
    }
}
