//! The decision of a hook before a call.

use crate::govern::Question;
use crate::govern::approval::Approvers;
use serde::Serialize;
use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// The decision of a hook before a call: it proceeds, is denied, or needs approval.
///
/// Arguments can be rewritten and values provided along with any of these; a denied call ignores
/// both.
///
/// ```
/// use tool_runtime::hook::Before;
///
/// struct Account(u32);
///
/// let careful = Before::ask("Send the mail?")
///     .rewriting(r#"{"to": "ada@example.com"}"#)
///     .provide(Account(7));
/// # let _ = careful;
/// ```
#[must_use]
pub struct Before {
    pub(crate) decision: HookDecision,
    pub(crate) arguments: Option<String>,
    pub(crate) provided: Vec<Provided>,
}

#[derive(Debug)]
pub(crate) enum HookDecision {
    Proceed,
    Deny(String),
    Ask(Box<Question>),
}

/// A value with an erased type, and its `TypeId`.
pub(crate) struct Provided {
    pub(crate) id: TypeId,
    pub(crate) value: Arc<dyn Any + Send + Sync>,
}

impl Before {
    /// Continues the call.
    pub fn proceed() -> Self {
        Self::with(HookDecision::Proceed)
    }

    /// Continues the call with other arguments: JSON text, checked against the tool's schema before
    /// anyone else sees it. Invalid arguments are a failure of the hook.
    pub fn rewrite(arguments: impl Into<String>) -> Self {
        Self::proceed().rewriting(arguments)
    }

    /// Continues the call with other arguments, like [`Self::rewrite`].
    ///
    /// # Errors
    /// If the value does not serialise: a map with keys that are not strings.
    ///
    /// ```
    /// # use tool_runtime::hook::Before;
    /// let sandboxed = Before::rewrite_with(&serde_json::json!({ "path": "/sandbox/a.txt" }))?;
    /// # let _ = sandboxed;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn rewrite_with<T: Serialize + ?Sized>(arguments: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(arguments).map(Self::rewrite)
    }

    /// Denies the call with a reason for the model: say what is not allowed and what
    /// to do instead. Hooks after this one do not run.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::with(HookDecision::Deny(reason.into()))
    }

    /// Requests an approval, once all hooks have passed the call. The arguments are then final: the approved
    /// call is the one that runs. Without an approver the call is denied.
    pub fn ask(question: impl Into<String>) -> Self {
        Self::with(HookDecision::Ask(Box::new(Question::new(question))))
    }

    /// Sets who may approve. Default: every person but the caller. Without effect unless the hook
    /// [asks](Self::ask).
    pub fn approved_by(mut self, approvers: Approvers) -> Self {
        if let HookDecision::Ask(question) = &mut self.decision {
            question.approvers = approvers;
        }
        self
    }

    /// Puts a value into the call's context, for parameters `&T`, for
    /// [`ToolContext::get`](crate::tool::ToolContext::get) and for the hooks after this one. It takes
    /// precedence over the pool's value of this type.
    ///
    /// Also call [`Hook::provides`](crate::govern::hook::Hook::provides) if the pool has no such value.
    pub fn provide<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.provided.push(Provided { id: TypeId::of::<T>(), value: Arc::new(value) });
        self
    }

    /// Rewrites the arguments, as [`Self::rewrite`] does.
    pub fn rewriting(mut self, arguments: impl Into<String>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }

    fn with(decision: HookDecision) -> Self {
        Self { decision, arguments: None, provided: Vec::new() }
    }
}

/// Without arguments and values, which may be secret.
impl fmt::Debug for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Before")
            .field("decision", &self.decision)
            .field("is_rewritten", &self.arguments.is_some())
            .field("provided", &self.provided.len())
            .finish()
    }
}
