//! Limits: the call is counted, and recorded as one that may run.

use super::unchecked;
use crate::govern::{Reservation, Step};
use crate::vocabulary::error::{CallError, ErrorClass, caught};

/// Reserves the call at the limiter. What is reserved is refunded if the tool does not start.
///
/// # Errors
/// A limit is exceeded.
pub(in crate::dispatch) fn reserve(step: &mut Step) -> Result<(), CallError> {
    step.admit(reservation)
}

fn reservation(step: &Step) -> Result<Option<Reservation>, CallError> {
    let (call, limits) = (&step.call, step.decision.limits());
    let Some(limiter) = &step.governors.limiter else {
        if limits.is_empty() {
            return Ok(None);
        }
        let detail = "a policy sets limits, and the pool has no limiter; install the policy, by `Policies` for several, or set `ToolPoolBuilder::limiter`";
        return Err(unchecked(call.name(), detail.to_owned()));
    };
    let reserved = caught(|| limiter.reserve(&call.view(), limits))
        .map_err(|panic| unchecked(call.name(), format!("the limiter panicked: {panic}")))?;
    reserved.map(Some).map_err(|exceeded| {
        let text = format!("`{}` was not run: {exceeded}", call.name());
        CallError::new(ErrorClass::RateLimited, text)
    })
}
