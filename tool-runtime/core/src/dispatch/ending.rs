//! The end of a call, run or rejected: what its hooks, its records and its caller get of the outcome.

use crate::error::CallError;
use crate::limits::Limits;
use crate::observation::Observation;
use crate::pool::ToolPool;
use crate::tool::Tool;

pub(super) type Outcome = Result<Observation, CallError>;

impl ToolPool {
    /// Masks an outcome, then limits it: a limit could cut a secret in two.
    pub(super) async fn bounded(&self, tool: &Tool, outcome: Outcome) -> Outcome {
        let governance = self.governance();
        let outcome = governance.masked(outcome);
        match &governance.limits {
            Some(limits) => Box::pin(limited(&**limits, tool, outcome)).await,
            None => outcome,
        }
    }
}

/// Limits an outcome. The text of an error is limited like any other.
async fn limited(limits: &dyn Limits, tool: &Tool, outcome: Outcome) -> Outcome {
    match outcome {
        Ok(observation) => Ok(limits.apply(observation, tool.name()).await),
        Err(error) => {
            let text = Observation::error(error.message());
            let limited = limits.apply(text, tool.name()).await;
            Err(error.with_message(limited.to_text()))
        }
    }
}
