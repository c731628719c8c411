//! The executor of a tool.

use crate::tool::arguments::Arguments;
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;
use std::sync::Arc;

/// Executes the calls of one tool.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{BoxFuture, CallError};
/// use tool_runtime::tool::{Arguments, Executor};
///
/// struct Echo;
///
/// impl Executor for Echo {
///     fn call<'a>(
///         &'a self,
///         arguments: Arguments<'a>,
///         _: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<Observation, CallError>> {
///         Box::pin(async move { Ok(Observation::text(arguments.as_str())) })
///     }
/// }
///
/// let definition = ToolDefinition::new("echo", "Give the arguments back.");
/// let tool = Tool::new(definition, Echo);
/// assert_eq!(tool.definition().name, "echo");
/// ```
pub trait Executor: Send + Sync + 'static {
    /// Runs one call. Dropping the future cancels it.
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>>;

    /// Checks the arguments and declares the resources that the call would access, so that calls without conflict may
    /// run concurrently. Default: no check, no declaration.
    ///
    /// # Errors
    /// As [`Self::call`], for invalid arguments.
    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        let _ = arguments;
        Ok(Access::undeclared())
    }

    /// Stops an abandoned call: cancelled or timed out. Its future is dropped anyway;
    /// this method is for work outside the future. It may be called when the call has just ended. Default:
    /// nothing.
    fn interrupt(&self, context: &ToolContext) {
        let _ = context;
    }

    /// Ends the executor: called exactly once, by [`ToolPool::close`](crate::pool::ToolPool::close) or
    /// when the last clone of the tool is dropped. Default: `None`, nothing to do.
    fn close(self: Arc<Self>) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Whether the tool is usable on this system. An unusable tool is hidden, and the pool's report
    /// returns the reason. Called once, when the tool is offered to a pool. Default: usable.
    ///
    /// # Errors
    /// The reason, for the operator.
    fn is_usable(&self) -> Result<(), String> {
        Ok(())
    }

    /// The text that shows a call to the user. Default: `None`, which shows name and arguments.
    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        let _ = arguments;
        None
    }
}
