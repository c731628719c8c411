//! Extensions: several parts of a pool that belong together.

use super::builder::ToolPoolBuilder;
use super::problem::PoolProblem;

/// Installs several parts of a pool that belong together: for instance a policy, its limiter and
/// its recorder.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{Hook, PoolExtension, ToolPoolBuilder};
/// # use tool_runtime::{Before, HookCall};
///
/// struct Greetings;
///
/// impl PoolExtension for Greetings {
///     fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
///         let hello = Tool::builder("hello", "Say hello.").handler(|| async { "hello" });
///         builder.add(hello).hook(Hook::before("*", |_: HookCall| async { Before::proceed() }))
///     }
/// }
///
/// let pool = ToolPool::builder().install(Greetings).build()?;
/// assert_eq!(pool.tools().len(), 1);
/// # Ok::<(), tool_runtime::PoolError>(())
/// ```
pub trait PoolExtension {
    /// Adds the parts to the builder. Report problems by [`ToolPoolBuilder::problem`].
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S>;
}

impl<S> ToolPoolBuilder<S> {
    /// Installs an extension.
    pub fn install(self, extension: impl PoolExtension) -> Self {
        extension.install(self)
    }

    /// Records a problem of an extension, which `build` reports with all others.
    ///
    /// ```
    /// use tool_runtime::ToolPool;
    ///
    /// let error = ToolPool::builder().problem("policy", "rule 3 has no name").build().unwrap_err();
    /// assert!(error.to_string().contains("extension `policy`: rule 3 has no name"));
    /// ```
    pub fn problem(mut self, extension: impl Into<String>, reason: impl Into<String>) -> Self {
        let (name, reason) = (extension.into(), reason.into());
        self.note(PoolProblem::Extension { name, reason });
        self
    }
}
