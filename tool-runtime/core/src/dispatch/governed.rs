//! The governed path of a call: all stages, in their order.

use super::ending::{self, Outcome};
use super::{guard, stage};
use crate::govern::Step;
use crate::pool::{PooledTool, ToolPool};
use crate::tool::context::ToolContext;
use crate::tool::tool::DecodedCall;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::{BoxFuture, boxed};
use std::pin::pin;

/// A call as its caller wrote it.
pub(super) struct Arrival<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    pub(super) context: &'a ToolContext,
    /// The tool of that name, or why it cannot be called.
    pub(super) found: Result<PooledTool, CallError>,
}

impl ToolPool {
    /// Runs or rejects a call on the governed path. Boxed: it would make the future of every call larger.
    pub(super) fn governed<'a>(&'a self, arrival: Arrival<'a>) -> BoxFuture<'a, Outcome> {
        boxed(|| async move {
            let Arrival { name, arguments, context, found } = arrival;
            let resolved = match stage::resolve(self, name, found) {
                Ok(resolved) => resolved,
                Err(unknown) => {
                    return ending::end_unknown(self, name, arguments, context, unknown).await;
                }
            };
            let (mut step, rejection) = stage::propose(self, resolved, arguments, context);
            let ended = match rejection {
                Some(error) => Err(error),
                None => {
                    // Panics are caught here, so that hooks and records see them like other outcomes.
                    let tool = step.call.tool().clone();
                    guard::catch_panics(tool.name(), pin!(run(self, &mut step))).await
                }
            };
            ending::end(self, &mut step, ended).await
        })
    }
}

/// All stages between the proposal and the end. A rejection is the error of the stage.
async fn run(pool: &ToolPool, step: &mut Step) -> Outcome {
    stage::check_scopes(step.call.tool(), step.call.context().principal())?;
    let mut decoded = stage::decode(pool, step).await?;
    stage::check_rule(&step.call)?;
    if let Some(outcome) = admit(pool, step, &mut decoded).await? {
        return outcome;
    }
    let (tool, context) = (step.call.tool().clone(), step.inner_context());
    let (context, _held) = stage::acquire(pool, &tool, decoded.access, context).await?;
    stage::execute(pool, step, decoded.action, context).await
}

/// The stages that judge a call, as long as the caller waits and the pool is open. Returns the outcome of an earlier
/// attempt, if there was one: nothing runs then.
async fn admit(
    pool: &ToolPool,
    step: &mut Step,
    decoded: &mut DecodedCall,
) -> Result<Option<Outcome>, CallError> {
    let (tool, context) = (step.call.tool().clone(), step.call.context().clone());
    guard::check_open(pool, None)?;
    guard::check_time(tool.name(), &context)?;
    let judged = pin!(async {
        let judged = judge(pool, step, decoded).await;
        if let Err(error) = &judged {
            step.reject(error);
        }
        judged
    });
    let judged = pin!(guard::waiting(judged, tool.name(), &context));
    guard::while_open(pool, None, judged).await
}

/// Policies, hooks, earlier attempts, people, limits.
async fn judge(
    pool: &ToolPool,
    step: &mut Step,
    decoded: &mut DecodedCall,
) -> Result<Option<Outcome>, CallError> {
    let decided = stage::decide(step);
    step.log_decision();
    decided?;
    stage::run_before_hooks(step, decoded).await?;
    if let Some(outcome) = stage::replay(step).await? {
        return Ok(Some(outcome));
    }
    stage::ask_people(pool, step, decoded).await?;
    stage::reserve(step)?;
    Ok(None)
}
