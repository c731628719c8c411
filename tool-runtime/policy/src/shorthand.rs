//! One line on the pool builder for common wishes.

use crate::condition::Hint;
use crate::modes::{PermissionMode, Permissions};
use std::sync::Arc;
use tool_runtime_core::govern::hook::{Before, Hook, HookCall};
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};
use tool_runtime_core::pool::ToolPoolBuilder;
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;

/// Policies in one line each, on the builder of a pool.
///
/// ```
/// use tool_runtime::policy::{Hint::Destructive, PoolRules as _};
/// use tool_runtime::prelude::*;
/// use tool_runtime::govern::{Approval, ApprovalRequest};
///
/// let clear = Tool::builder("clear", "Remove all.").handler(|| async { "gone" });
/// let pool = ToolPool::builder()
///     .add(clear)
///     .confirm(Destructive)
///     .approver(|_: ApprovalRequest| async { Approval::rejected("not today") })
///     .build()?;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let result = pool.call(ToolCall::new("clear", "")).await;
/// assert_eq!(result.error().unwrap().class(), ErrorClass::ApprovalRejected);
/// # });
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub trait PoolRules: Sized + sealed::Sealed {
    /// Has a person asked about tools with a hint.
    #[must_use]
    fn confirm(self, hint: Hint) -> Self;

    /// Hides and denies all tools that do not only read.
    #[must_use]
    fn read_only(self) -> Self;

    /// Sets a permission mode for all sessions. To change it later, keep a
    /// [`Permissions`](crate::Permissions).
    #[must_use]
    fn permission_mode(self, mode: PermissionMode) -> Self;

    /// Asks a callback about each call. Its answer never loosens a denial or a question of others.
    ///
    /// ```
    /// use tool_runtime::policy::{CanUse, PoolRules as _};
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::hook::HookCall;
    ///
    /// let pool = ToolPool::builder()
    ///     .can_use(|call: HookCall| async move {
    ///         match call.name() {
    ///             "fs.remove" => CanUse::Deny("files are kept; move them instead".into()),
    ///             _ => CanUse::Allow,
    ///         }
    ///     })
    ///     .allow_empty()
    ///     .build()?;
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    #[must_use]
    fn can_use<F, A>(self, callback: F) -> Self
    where
        F: Fn(HookCall) -> A + Send + Sync + 'static,
        A: Future<Output = CanUse> + Send + 'static;
}

mod sealed {
    pub trait Sealed {}
    impl<S> Sealed for tool_runtime_core::pool::ToolPoolBuilder<S> {}
}

/// The answer of a callback of [`PoolRules::can_use`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CanUse {
    /// The call may run, as far as the callback is concerned.
    Allow,
    /// The call may run with these arguments, which policies judge again.
    Rewrite(String),
    /// A person is asked this question.
    Ask(String),
    /// The call does not run, for this reason.
    Deny(String),
}

impl<S> PoolRules for ToolPoolBuilder<S> {
    fn confirm(self, hint: Hint) -> Self {
        self.policy(Confirm(hint))
    }

    fn read_only(self) -> Self {
        self.policy(ReadOnly)
    }

    fn permission_mode(self, mode: PermissionMode) -> Self {
        self.policy(Permissions::new(mode))
    }

    fn can_use<F, A>(self, callback: F) -> Self
    where
        F: Fn(HookCall) -> A + Send + Sync + 'static,
        A: Future<Output = CanUse> + Send + 'static,
    {
        let callback = Arc::new(callback);
        self.hook(Hook::before("*", move |call: HookCall| {
            let callback = Arc::clone(&callback);
            async move {
                match callback(call).await {
                    CanUse::Allow => Before::proceed(),
                    CanUse::Rewrite(arguments) => Before::rewrite(arguments),
                    CanUse::Ask(question) => Before::ask(question),
                    CanUse::Deny(reason) => Before::deny(reason),
                }
            }
        }))
    }
}

struct Confirm(Hint);

impl PolicyEngine for Confirm {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match self.0.is_true_for(&call.annotations()) {
            true => Decision::ask(format!("Let `{}` run?", call.name())).with_rule("confirm"),
            false => Decision::allow(),
        }
    }
}

struct ReadOnly;

impl PolicyEngine for ReadOnly {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        match call.annotations().is_read_only() {
            true => Decision::allow(),
            false => Decision::deny("only tools that read may run; describe the change instead")
                .with_rule("read-only"),
        }
    }

    fn visible(&self, tool: &ToolDefinition, _: &Principal) -> bool {
        tool.effective_annotations().is_read_only()
    }
}
