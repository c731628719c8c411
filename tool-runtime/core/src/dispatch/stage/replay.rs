//! Steps of an execution that is repeated: a call that ran in an earlier attempt is answered with its outcome.

use crate::dispatch::ending::Outcome;
use crate::govern::{Begin, Step};
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::{CallError, ErrorClass};

/// Looks up the outcome that the call had in an earlier attempt. `None` if it has to run: also a step without an
/// execution, which has no earlier attempt, and one that the process of its tool can take up again.
///
/// # Errors
/// The call must not run, because its earlier outcome is unknown.
pub(in crate::dispatch) async fn replay(step: &mut Step) -> Result<Option<Outcome>, CallError> {
    let (call, steps) = (step.call.clone(), step.governors.steps.clone());
    let (Some(steps), Some(id)) = (steps, call.view().repeatable_step()) else { return Ok(None) };
    if step.has_started() {
        return Ok(None);
    }
    let mode = match call.tool().resumes() {
        true => RetryMode::SafeToRetry,
        false => call.view().retry_mode(),
    };
    match steps.begin(id, mode).await {
        Ok(Begin::Run) => Ok(None),
        Ok(Begin::Replay(outcome)) => {
            step.set_replayed();
            Ok(Some(outcome))
        }
        Ok(Begin::Indeterminate) => Err(indeterminate(call.name())),
        Err(error) => step.check_unrecorded(&error).map(|()| None),
    }
}

fn indeterminate(tool: &str) -> CallError {
    let text = format!(
        "an earlier attempt started `{tool}`, and its outcome is unknown; check whether it had its effect before you call it again"
    );
    CallError::new(ErrorClass::Indeterminate, text)
}
