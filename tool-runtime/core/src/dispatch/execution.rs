//! Runs user code: inline, or in a separate task under a server.

use super::guard;
use super::resolve::shut_down;
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::pool::ToolPool;
use crate::tool::{DecodedAction, Tool};
use crate::toolset::{Instance, Values};
use std::any::Any;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

/// Runs a tool: the decoded action, or else the text of its arguments.
pub(super) fn of_tool<'a>(
    tool: &'a Tool,
    action: Option<DecodedAction>,
    arguments: &'a str,
    context: &'a ToolContext,
) -> BoxFuture<'a, Result<Observation, CallError>> {
    #[cfg(feature = "isolation")]
    if let Some(isolation) = context.isolation().filter(|isolation| !isolation.is_outer()) {
        let (own, arguments) = (tool.clone(), arguments.to_owned());
        let context = context.clone();
        return isolation.run(tool.name(), async move {
            // The caller may stop waiting while the tool still blocks its thread.
            let _guards = context.guards();
            own.run(action, &arguments, &context).await
        });
    }
    tool.run(action, arguments, context)
}

/// Runs a prompt, a resource or a completion.
pub(super) fn of_offering<T: Send + 'static>(
    work: impl Future<Output = Result<T, CallError>> + Send + 'static,
    name: &str,
    context: &ToolContext,
) -> BoxFuture<'static, Result<T, CallError>> {
    #[cfg(feature = "isolation")]
    if let Some(isolation) = context.isolation() {
        return isolation.run(name, work);
    }
    let _ = (name, context);
    Box::pin(work)
}

/// A call of a method that is about to run. Of other tools, it has only the context.
pub(super) struct MethodCall<'a> {
    pub(super) context: Cow<'a, ToolContext>,
    /// The value whose method runs.
    pub(super) instance: Option<Arc<Instance>>,
    /// Counts the call on the value.
    pub(super) _running: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of a method, and the guard that counts its call. The value of a session is created
/// first if needed.
///
/// # Errors
/// The value cannot be created, or was closed while the call waited.
pub(super) async fn enter_method<'a>(
    pool: &ToolPool,
    tool: &Tool,
    context: Cow<'a, ToolContext>,
) -> Result<MethodCall<'a>, CallError> {
    let instance = match tool.values() {
        None => return Ok(MethodCall { context, instance: None, _running: None }),
        Some(Values::One(instance)) => Arc::clone(instance),
        Some(values) => {
            let made = Box::pin(values.of(&context));
            let made = pin!(guard::waiting(made, tool.name(), &context));
            guard::while_open(pool, None, made).await?
        }
    };
    let (context, running) = instance.enter(context.into_owned()).ok_or_else(shut_down)?;
    let (context, running) = context.with_guard(running);
    Ok(MethodCall {
        context: Cow::Owned(context),
        instance: Some(instance),
        _running: Some(running),
    })
}

/// Interrupts the tool when its call ends early: timed out, cancelled, or dropped.
pub(super) struct InterruptOnDrop<'a> {
    pub(super) tool: &'a Tool,
    pub(super) instance: Option<&'a Instance>,
    pub(super) context: &'a ToolContext,
    pub(super) is_complete: bool,
}

impl Drop for InterruptOnDrop<'_> {
    fn drop(&mut self) {
        // A call that panics has ended.
        if !self.is_complete && !std::thread::panicking() {
            self.tool.interrupt(self.context);
            if let Some(instance) = self.instance {
                instance.interrupt(self.context);
            }
        }
    }
}
