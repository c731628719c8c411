//! Hooks before and after a call: rules, rewriting, injected values, questions.

mod after;
mod answer;
mod before;
mod call;
mod hooks;
pub(crate) mod pooled_tool;
mod watch;

#[cfg(test)]
mod tests;

pub use after::{After, AfterCall};
pub use answer::HookAnswer;
pub use before::Before;
pub(crate) use before::{HookDecision, Provided};
pub use call::HookCall;
pub(crate) use hooks::{Hooks, ToolHooks};
pub(crate) use pooled_tool::PooledTool;
pub(crate) use watch::{Failure, catch_panic};

use crate::vocabulary::error::ToolError;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::matching::pattern::{PatternError, ToolPattern};
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The default time limit of a hook.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A function that runs before or after the calls of some tools.
///
/// A hook sees each call of the tools that its [pattern](ToolPattern) matches. One that runs
/// [before](Self::before) may forbid the call, rewrite its arguments, provide values for it, or
/// request an approval; one that runs [after](Self::after) may replace the outcome.
///
/// Hooks run one after the other in the order they were registered. A hook that fails, panics or
/// takes longer than its time (by default 30 seconds, see [`timeout`](Self::timeout)) fails
/// *closed*: the call does not run, or its result is withheld. See [`Self::fails_open`]. A hook
/// that blocks its thread is abandoned after its time in a served pool (`McpServer`); elsewhere it
/// cannot be cut short.
///
/// ```
/// use tool_runtime::Observation;
/// use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
///
/// let guard = Hook::before("fs.*", |call: HookCall| async move {
///     if call.arguments().contains("..") {
///         return Before::deny("`path` must stay inside the directory; write it without `..`");
///     }
///     Before::proceed()
/// });
/// let limit = Hook::after("*", |_: HookCall, after: AfterCall| async move {
///     if after.observation().to_text().len() > 10_000 {
///         return After::replace(Observation::error("too long; ask for less"));
///     }
///     After::keep()
/// });
/// # let _ = (guard, limit);
/// ```
#[derive(Clone)]
pub struct Hook {
    pattern: Result<ToolPattern, PatternError>,
    run: Run,
    fails_open: bool,
    timeout: Duration,
    provided_types: Vec<ProvidedType>,
}

#[derive(Clone)]
enum Run {
    Before(Arc<RunBefore>),
    After(Arc<RunAfter>),
}

/// The closure of a hook, its type erased.
type Running<T> = BoxFuture<'static, Result<T, ToolError>>;
type RunBefore = dyn Fn(HookCall) -> Running<Before> + Send + Sync;
type RunAfter = dyn Fn(HookCall, AfterCall) -> Running<After> + Send + Sync;

/// A type that a hook may provide.
#[derive(Clone, Copy)]
struct ProvidedType {
    id: TypeId,
    type_name: &'static str,
}

impl Hook {
    /// Runs before each call of the tools that are meant, by a closure `Fn(HookCall) -> Future`
    /// that returns [`Before`], or a `Result` of it.
    ///
    /// An invalid pattern is reported when the pool is built.
    ///
    /// ```
    /// use tool_runtime::ToolError;
    /// use tool_runtime::hook::{Before, Hook, HookCall};
    ///
    /// struct User(String);
    ///
    /// async fn log_in(call: HookCall) -> Result<Before, ToolError> {
    ///     let id = call.call_id().ok_or("a call needs an id here")?;
    ///     Ok(Before::proceed().provide(User(id.to_owned())))
    /// }
    ///
    /// let hook = Hook::before("mail.*", log_in).provides::<User>();
    /// # let _ = hook;
    /// ```
    pub fn before<F, Fut>(
        pattern: impl TryInto<ToolPattern, Error: Into<PatternError>>,
        hook: F,
    ) -> Self
    where
        F: Fn(HookCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: HookAnswer<Before>> + Send + 'static,
    {
        let run = move |call| answer::boxed(hook(call));
        Self::new(pattern.try_into().map_err(Into::into), Run::Before(Arc::new(run)))
    }

    /// Runs after each call of the tools that are meant, by a closure `Fn(HookCall, AfterCall) ->
    /// Future` that returns [`After`], or a `Result` of it.
    ///
    /// The hook sees the outcome of every call of a tool of the pool once: calls that ran, also those that
    /// failed, timed out or were cancelled, and calls that were rejected because of their
    /// arguments, a restriction, a hook or a person. The class of
    /// [`AfterCall::error`] distinguishes them. A rejected call has the arguments after the rewrites of
    /// it up to then, which may not be valid. A call of an unknown tool, or of a pool that has
    /// been closed, has no tool and is not shown.
    ///
    /// An invalid pattern is reported when the pool is built.
    ///
    /// ```
    /// use tool_runtime::hook::{After, AfterCall, Hook, HookCall};
    ///
    /// let log = Hook::after("*", |call: HookCall, after: AfterCall| async move {
    ///     println!("{} took {:?}", call.name(), after.duration());
    ///     After::keep()
    /// });
    /// # let _ = log;
    /// ```
    pub fn after<F, Fut>(
        pattern: impl TryInto<ToolPattern, Error: Into<PatternError>>,
        hook: F,
    ) -> Self
    where
        F: Fn(HookCall, AfterCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: HookAnswer<After>> + Send + 'static,
    {
        let run = move |call, after| answer::boxed(hook(call, after));
        Self::new(pattern.try_into().map_err(Into::into), Run::After(Arc::new(run)))
    }

    fn new(pattern: Result<ToolPattern, PatternError>, run: Run) -> Self {
        Self {
            pattern,
            run,
            fails_open: false,
            timeout: DEFAULT_TIMEOUT,
            provided_types: Vec::new(),
        }
    }

    /// Lets calls continue when the hook fails, panics or times out, as if it were not
    /// there; the log has a warning. Default: the call is rejected, or its result withheld.
    ///
    /// If the tool rejects rewritten arguments, only the rewriting is dropped: a question that came with it is
    /// still put to the approver.
    ///
    /// For hooks that help, such as logging; not for hooks that guard.
    #[must_use]
    pub fn fails_open(mut self) -> Self {
        self.fails_open = true;
        self
    }

    /// Limits the time of one run. Default: 30 seconds.
    ///
    /// Only a hook that waits needs a runtime with timers, as tokio's is with `enable_time`;
    /// without one it fails when it starts to wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Declares that the hook provides a value of this type by [`Before::provide`], so that the pool
    /// need not be given one for tools that borrow it. Default: the pool must have all state.
    ///
    /// A call that continues without the value fails in the tool that borrows it. A hook that runs
    /// after calls provides nothing.
    #[must_use]
    pub fn provides<T: Any + Send + Sync>(mut self) -> Self {
        self.provided_types
            .push(ProvidedType { id: TypeId::of::<T>(), type_name: type_name::<T>() });
        self
    }

    /// The problem of its pattern.
    pub(crate) fn problem(&self) -> Option<&PatternError> {
        self.pattern.as_ref().err()
    }

    /// Whether the hook declared that it provides the type.
    pub(crate) fn declares_type(&self, id: TypeId) -> bool {
        self.is_before() && self.provided_types.iter().any(|provided| provided.id == id)
    }

    fn is_before(&self) -> bool {
        matches!(self.run, Run::Before(_))
    }

    /// Whether the hook runs for this tool.
    fn concerns(&self, tool: &str) -> bool {
        self.pattern.as_ref().is_ok_and(|pattern| pattern.matches(tool))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provided: Vec<&str> =
            self.provided_types.iter().map(|provided| provided.type_name).collect();
        f.debug_struct(if self.is_before() { "Hook::before" } else { "Hook::after" })
            .field("pattern", &self.pattern)
            .field("fails_open", &self.fails_open)
            .field("timeout", &self.timeout)
            .field("provides", &provided)
            .finish_non_exhaustive()
    }
}
