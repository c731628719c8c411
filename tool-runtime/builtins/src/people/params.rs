//! Settings of the operator.

use super::ask::{AskPerson, Question};
use schemars::JsonSchema;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use tool_runtime::ToolError;
use tool_runtime::policy::Permissions;

/// Settings of the tools that ask people and plan.
///
/// ```
/// use tool_runtime::ToolError;
/// use tool_runtime::policy::{PermissionMode, Permissions};
/// use tool_runtime_builtins::people::{PeopleParams, Question};
///
/// let params = PeopleParams::new()
///     .asker(|question: Question| async move {
///         println!("{question}");
///         Err::<String, _>(ToolError::user("the office is closed; decide yourself"))
///     })
///     .permissions(Permissions::new(PermissionMode::AcceptEdits));
/// ```
#[derive(Clone, Default)]
pub struct PeopleParams {
    pub(super) asker: Option<Arc<dyn AskPerson>>,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) answer: Option<Value>,
}

impl PeopleParams {
    /// Questions reach only callers, nothing plans, and `finish` takes a string.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets who is asked if the caller of a tool cannot be: a person at the terminal, for instance by
    /// `TerminalApprover::ask_line`. Default: no person, and such a question is an error.
    #[must_use]
    pub fn asker<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        self.asker = Some(Arc::new(ask));
        self
    }

    /// Sets the permissions, in which the tools for plan mode begin and end it. The extension adds them to the pool
    /// as a policy. Default: none, and these tools are hidden.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Makes `finish` take an argument `answer` of this type, which is the value of the run.
    #[must_use]
    pub fn answer<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(schemars::SchemaGenerator::default().into_root_schema_for::<T>().into());
        self
    }
}

impl fmt::Debug for PeopleParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeopleParams")
            .field("permissions", &self.permissions)
            .finish_non_exhaustive()
    }
}
