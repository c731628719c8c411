//! The end of a governed call, run or rejected: what its hooks, its records and its caller get of the outcome.

use super::{guard, stage};
use crate::govern::hook::HookCall;
use crate::govern::{Governors, Step, UnknownCall};
use crate::pool::ToolPool;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::tool::Tool;
use crate::vocabulary::error::{CallError, ErrorClass};
use std::pin::pin;
use std::time::Duration;

pub(super) type Outcome = Result<Observation, CallError>;

/// Ends a call: the output is checked, masked and limited, after-hooks may replace it, what they say is masked, and the
/// record has what the caller gets. The outcome of an earlier attempt is final.
pub(super) async fn end(pool: &ToolPool, step: &mut Step, ended: Outcome) -> Outcome {
    let duration = step.duration();
    let outcome = match step.is_replayed() {
        true => ended,
        false => finish(pool, &step.call, ended, duration).await,
    };
    step.finish(&outcome, duration).await;
    outcome
}

async fn finish(
    pool: &ToolPool,
    call: &HookCall,
    ended: Outcome,
    duration: Option<Duration>,
) -> Outcome {
    let outcome = ended.and_then(|observation| stage::check_output(pool, call, observation));
    // A limit could cut a secret in two.
    let outcome = pool.governance().masked(outcome);
    let outcome = match call.pooled_tool().is_offering() {
        false => limit(pool, call.tool(), outcome).await,
        // The caller of a prompt or a resource gets what it made; this is for the record.
        true => outcome,
    };
    match call.pooled_tool().hooks() {
        Some(hooks) if !hooks.after.is_empty() => {
            let duration = duration.unwrap_or_default();
            let outcome = stage::run_after_hooks(hooks, call, outcome, duration).await;
            pool.governance().masked(outcome)
        }
        _ => outcome,
    }
}

/// Limits an outcome. The text of an error is limited like any other.
async fn limit(pool: &ToolPool, tool: &Tool, outcome: Outcome) -> Outcome {
    let Some(limits) = &pool.governance().limits else { return outcome };
    match outcome {
        Ok(observation) => Ok(limits.apply(observation, tool.name()).await),
        Err(error) => {
            let text = Observation::error(error.message());
            let limited = limits.apply(text, tool.name()).await;
            Err(error.with_message(limited.to_text()))
        }
    }
}

/// Ends a call of a tool that the pool does not have: no hook is about it. A repeated execution gets the outcome of its
/// earlier attempt, which is final. The call is recorded.
pub(super) async fn end_unknown(
    pool: &ToolPool,
    name: &str,
    arguments: &str,
    context: &ToolContext,
    error: CallError,
) -> Outcome {
    let governance = pool.governance();
    let governors = &governance.governors;
    if governors.recorders.is_empty() && governors.steps.is_none() {
        return Err(governance.masked_error(error));
    }
    let meta = governance.extract_meta(None, arguments);
    let call = UnknownCall::new(name, arguments, meta, context.clone());
    let earlier = match may_be_on_record(governors, context, &error) {
        true => {
            let earlier = pin!(async { Ok(call.earlier_outcome(governors).await) });
            guard::waiting(earlier, name, context).await
        }
        false => Ok(None),
    };
    let (outcome, is_replayed) = match earlier {
        Ok(Some(outcome)) => (outcome, true),
        Ok(None) => (Err(governance.masked_error(error)), false),
        Err(expired) => (Err(expired), false),
    };
    call.record(governors, &outcome, is_replayed).await;
    outcome
}

/// Whether an earlier attempt may answer a call without a tool. It does not if more than the tool is missing: an operator
/// disabled it, calls are nested too deep, or the pool is closed.
fn may_be_on_record(governors: &Governors, context: &ToolContext, error: &CallError) -> bool {
    let is_forbidden = matches!(error.class(), ErrorClass::Denied | ErrorClass::Cancelled);
    governors.steps.is_some() && context.execution().is_some() && !is_forbidden
}

#[cfg(test)]
mod tests;
