//! Calls that are rejected before any stage: they are logged, and after-hooks see them.

use super::guard;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::hook::HookCall;
use crate::observation::Observation;
use crate::pool::ToolPool;
use std::time::Duration;

impl ToolPool {
    /// The outcome of a rejected call.
    pub(super) async fn reject(
        &self,
        call: &ToolCall,
        context: &ToolContext,
        error: CallError,
    ) -> Result<Observation, CallError> {
        let context = context.clone().with_call_id(call.call_id());
        let rejected = self.rejected(call.name(), call.arguments(), &context, error);
        guard::catch_and_report(call.name(), rejected).await
    }

    /// Shows a rejection to the after-hooks, if the pool has the tool, and records it.
    #[cold]
    pub(super) fn rejected<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        error: CallError,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let seams = &self.governance().seams;
            let error = match self.governance().mask.as_deref() {
                Some(mask) => error.masked(mask),
                None => error,
            };
            let found = self.known(name);
            let Some((found, hooks)) = found.as_ref().and_then(|it| Some((it, it.hooks()?))) else {
                if let Some(seams) = seams {
                    seams.record_unknown(name, arguments, context, &error).await;
                }
                return Err(error);
            };
            if seams.is_none() && !hooks.reads_results() {
                return Err(error);
            }
            let meta = self.governance().extract_meta(found.tool(), arguments);
            let arguments = meta.as_ref().map_or(arguments, |meta| &meta.rest);
            let call = HookCall::new(found.clone(), arguments, context.clone());
            let call = call.with_meta(meta.as_ref());
            let governed = seams.clone().map(|seams| seams.propose(&call));
            let mut outcome = self.bounded(found.tool(), Err(error)).await;
            if hooks.reads_results() {
                outcome = hooks.after(call.clone(), outcome, Duration::ZERO).await;
                outcome = self.governance().masked(outcome);
            }
            if let Some(mut governed) = governed {
                governed.finish(&call, &outcome, None).await;
            }
            outcome
        })
    }
}
