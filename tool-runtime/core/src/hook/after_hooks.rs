//! Runs the hooks after a call on its outcome.

use super::hooks::ToolHooks;
use super::watch::{self, Failure};
use super::{After, AfterCall, Hook, HookCall, Run};
use crate::error::{CallError, ErrorClass};
use crate::observation::Observation;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

impl ToolHooks {
    /// Runs the after-hooks in the order of registration. Each sees the
    /// outcome as changed by the hooks before it. A hook that fails closed withholds the outcome, also from
    /// later hooks. Later hooks still run, so that logs have every call.
    ///
    /// # Errors
    /// The error of the call, or an internal error if a hook withholds the outcome.
    pub(crate) async fn after(
        &self,
        call: HookCall,
        outcome: Result<Observation, CallError>,
        duration: Duration,
    ) -> Result<Observation, CallError> {
        let has_succeeded = outcome.is_ok();
        let outcome = outcome.map(Arc::new);
        let mut finished = FinishedCall { call, outcome, has_succeeded, duration };
        for hook in &self.after {
            finished.run(hook).await;
        }
        finished.outcome.map(Arc::unwrap_or_clone)
    }
}

/// A finished call on its way through the hooks.
struct FinishedCall {
    call: HookCall,
    outcome: Result<Arc<Observation>, CallError>,
    /// Whether the tool itself succeeded, before any hook changed the outcome.
    has_succeeded: bool,
    duration: Duration,
}

impl FinishedCall {
    async fn run(&mut self, hook: &Arc<Hook>) {
        let (call, after) = (self.call.clone(), AfterCall::new(&self.outcome, self.duration));
        let start = |hook: &Hook| match &hook.run {
            Run::After(run) => run(call, after),
            Run::Before(_) => Box::pin(ready(Ok(After::keep()))),
        };
        match watch::run_hook(hook, self.call.context(), start).await {
            Ok(After(None)) => {}
            Ok(After(Some(observation))) => self.outcome = Ok(Arc::new(observation)),
            Err(failure) => self.apply_failure(hook, &failure),
        }
    }

    fn apply_failure(&mut self, hook: &Hook, failure: &Failure) {
        if let Err(detail) = hook.tolerate(failure, &self.call) {
            self.outcome = Err(self.withheld(detail));
        }
    }

    /// The text contains whether the call succeeded, so that the model does not repeat a successful call.
    fn withheld(&self, mut detail: String) -> CallError {
        let tool = self.call.name();
        let text = if self.has_succeeded {
            format!("`{tool}` ran, but its result was withheld because a check failed")
        } else {
            format!("`{tool}` failed, and the reason was withheld because a check failed")
        };
        if let Err(error) = &self.outcome {
            // The withheld error is reported nowhere else.
            detail = format!("{detail}; withheld: {}", error_with_detail(error));
        }
        CallError::new(ErrorClass::Internal, text).with_detail(detail)
    }
}

/// The error with its details, for the operator.
fn error_with_detail(error: &CallError) -> String {
    match error.detail() {
        Some(detail) => format!("{error} ({detail})"),
        None => error.to_string(),
    }
}
