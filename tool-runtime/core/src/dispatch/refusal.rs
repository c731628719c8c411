//! Calls that are refused before their tool runs: they are logged, and after-hooks see them.

use super::guard;
use crate::call::{ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::hook::HookCall;
use crate::observation::Observation;
use crate::pool::{Found, ToolPool};
use std::time::Duration;

impl ToolPool {
    /// The result of a call that is refused.
    pub(super) async fn refuse(
        &self,
        call: ToolCall,
        context: &ToolContext,
        refusal: CallError,
    ) -> ToolResult {
        let context = context.clone().with_call_id(call.call_id());
        let refused = self.refused(call.name(), call.arguments(), &context, refusal);
        let outcome = guard::catch_and_report(call.name(), refused).await;
        ToolResult::new(call, outcome)
    }

    /// Shows a refusal to the after-hooks, if the pool has the tool, and records it.
    #[cold]
    pub(super) fn refused<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        refusal: CallError,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let seams = &self.governance().seams;
            let Some(Found { tool, hooks: Some(hooks), source, .. }) = self.known(name) else {
                if let Some(seams) = seams {
                    seams.refuse_unknown(name, arguments, context, &refusal).await;
                }
                return Err(refusal);
            };
            if seams.is_none() && !hooks.reads_results() {
                return Err(refusal);
            }
            let taken = self.governance().taken(&tool, arguments);
            let call = HookCall::new(tool, source, &taken.arguments, context.clone())
                .judged(taken.risk, taken.summary);
            let governed = seams.clone().map(|seams| seams.propose(&call));
            let mut outcome = Err(refusal);
            if hooks.reads_results() {
                outcome = hooks.after(call.clone(), outcome, Duration::ZERO).await;
            }
            if let Some(mut governed) = governed {
                governed.finish(&call, &outcome, None).await;
            }
            outcome
        })
    }
}
