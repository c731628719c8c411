//! The end of a governed call, run or rejected: what its hooks, its records and its caller get of the outcome.

use super::stage;
use crate::context::ToolContext;
use crate::error::CallError;
use crate::governance::Step;
use crate::hook::HookCall;
use crate::observation::Observation;
use crate::pool::ToolPool;
use crate::tool::Tool;
use std::time::Duration;

pub(super) type Outcome = Result<Observation, CallError>;

/// Ends a call: the output is checked, masked and limited, after-hooks may replace it, what they say is masked, and the
/// record has what the caller gets. The outcome of an earlier attempt is final.
pub(super) async fn end(pool: &ToolPool, step: &mut Step, ended: Outcome) -> Outcome {
    let duration = step.duration();
    let outcome = match step.is_replayed() {
        true => ended,
        false => finished(pool, &step.call, ended, duration).await,
    };
    step.finish(&outcome, duration).await;
    outcome
}

async fn finished(
    pool: &ToolPool,
    call: &HookCall,
    ended: Outcome,
    duration: Option<Duration>,
) -> Outcome {
    let outcome = ended.and_then(|observation| stage::check_output(pool, call, observation));
    // A limit could cut a secret in two.
    let outcome = pool.governance().masked(outcome);
    let outcome = limited(pool, call.tool(), outcome).await;
    match call.found().hooks() {
        Some(hooks) if !hooks.after.is_empty() => {
            let duration = duration.unwrap_or_default();
            let outcome = stage::run_after_hooks(hooks, call, outcome, duration).await;
            pool.governance().masked(outcome)
        }
        _ => outcome,
    }
}

/// Limits an outcome. The text of an error is limited like any other.
async fn limited(pool: &ToolPool, tool: &Tool, outcome: Outcome) -> Outcome {
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

/// Ends a call of a tool that the pool does not have: it is recorded, and no hook is about it.
pub(super) async fn end_unknown(
    pool: &ToolPool,
    name: &str,
    arguments: &str,
    context: &ToolContext,
    error: CallError,
) -> Outcome {
    let outcome = pool.governance().masked(Err(error));
    if let Err(error) = &outcome {
        pool.governance().governors.record_unknown(name, arguments, context, error).await;
    }
    outcome
}
