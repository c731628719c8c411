//! Extensions: several parts of a pool that belong together.

use super::builder::ToolPoolBuilder;
use super::problem::PoolProblem;
use std::any::type_name;
use std::fmt::Display;

/// Installs several parts of a pool that belong together: for instance a policy, its limiter and
/// its recorder.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::ToolPoolBuilder;
/// use tool_runtime::hook::Hook;
/// use tool_runtime::pool::PoolExtension;
/// # use tool_runtime::hook::{Before, HookCall};
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
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
///
/// An extension that may fail to be made is installed as a `Result`. Its error is a problem that `build` reports:
///
/// ```
/// use tool_runtime::ToolPool;
/// # use tool_runtime::ToolPoolBuilder;
/// # use tool_runtime::pool::PoolExtension;
/// # struct Rules;
/// # impl Rules { fn open(file: &str) -> Result<Self, String> { Err(format!("`{file}` does not exist")) } }
/// # impl PoolExtension for Rules {
/// #     fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> { builder }
/// # }
///
/// let error = ToolPool::builder().install(Rules::open("rules.txt")).build().unwrap_err();
/// assert!(error.to_string().contains("extension `Rules`: `rules.txt` does not exist"));
/// ```
pub trait PoolExtension: Sized {
    /// Adds the parts to the builder. Report problems by [`ToolPoolBuilder::problem`].
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S>;

    /// Adds what a pool has even if the extension could not be made, before [`Self::install`]: commands that check its
    /// files, for instance. Default: nothing.
    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        builder
    }
}

impl<E: PoolExtension, F: Display> PoolExtension for Result<E, F> {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        match self {
            Ok(extension) => extension.install(builder),
            Err(error) => builder.problem(short_name(type_name::<E>()), error.to_string()),
        }
    }

    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        E::prepare(builder)
    }
}

/// The name of a type without its path and parameters.
fn short_name(path: &str) -> &str {
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

impl<S> ToolPoolBuilder<S> {
    /// Installs an extension.
    pub fn install<E: PoolExtension>(self, extension: E) -> Self {
        extension.install(E::prepare(self))
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
