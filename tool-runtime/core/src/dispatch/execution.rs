//! Runs user code: inline, or in a separate task under a server.

use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::{DecodedAction, Tool};
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;

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
