//! Work that goes on in the background after its call.

#[cfg(any(feature = "shell", feature = "tasks"))]
use tool_runtime::{ToolContext, ToolError};

/// The label by which policies recognise the calls of all jobs: `labels: {run_by: schedule}`.
pub(crate) const RUN_BY: &str = "run_by";

/// Refuses `run_in_background` in a call of a scheduled job: the job ends with its call, and so may the process.
#[cfg(any(feature = "shell", feature = "tasks"))]
pub(crate) fn check_not_scheduled(context: &ToolContext, what: &str) -> Result<(), ToolError> {
    let execution = context.execution();
    if execution.is_some_and(|execution| execution.labels().contains_key(RUN_BY)) {
        return Err(ToolError::user(format!(
            "a scheduled job ends with its call, and {what} in the background would end with it; leave `run_in_background` out"
        )));
    }
    Ok(())
}
