//! After-hooks: each sees the outcome, and may replace it.

use crate::dispatch::ending::Outcome;
use crate::govern::hook::{After, AfterCall, HookCall, ToolHooks};
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{CallError, ErrorClass};
use std::sync::Arc;
use std::time::Duration;

/// Runs the after-hooks in the order of registration. Each sees the outcome as changed by the hooks before it. A hook
/// that fails closed withholds the outcome, also from later hooks. Later hooks still run, so that logs have every call.
///
/// # Errors
/// The error of the call, or an internal error if a hook withholds the outcome.
pub(crate) async fn run_after_hooks(
    hooks: &ToolHooks,
    call: &HookCall,
    outcome: Outcome,
    duration: Duration,
) -> Outcome {
    let has_succeeded = outcome.is_ok();
    let mut outcome = outcome.map(Arc::new);
    for hook in &hooks.after {
        match hook.run_after(call, AfterCall::new(&outcome, duration)).await {
            Ok(After(None)) => {}
            Ok(After(Some(observation))) => outcome = Ok(Arc::new(observation)),
            Err(failure) => {
                if let Err(detail) = hook.tolerate(&failure, call) {
                    outcome = Err(withheld(call, has_succeeded, &outcome, detail));
                }
            }
        }
    }
    outcome.map(Arc::unwrap_or_clone)
}

/// The text says whether the tool itself succeeded, before any hook changed the outcome, so that the model does not
/// repeat a successful call.
fn withheld(
    call: &HookCall,
    has_succeeded: bool,
    outcome: &Result<Arc<Observation>, CallError>,
    mut detail: String,
) -> CallError {
    let tool = call.name();
    let text = if has_succeeded {
        format!("`{tool}` ran, but its result was withheld because a check failed")
    } else {
        format!("`{tool}` failed, and the reason was withheld because a check failed")
    };
    if let Err(error) = outcome {
        // The withheld error is reported nowhere else.
        detail = format!("{detail}; withheld: {}", error_with_detail(error));
    }
    CallError::new(ErrorClass::Internal, text).with_detail(detail)
}

/// The error with its details, for the operator.
fn error_with_detail(error: &CallError) -> String {
    match error.detail() {
        Some(detail) => format!("{error} ({detail})"),
        None => error.to_string(),
    }
}
