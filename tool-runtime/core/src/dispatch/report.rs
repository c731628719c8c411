//! Logs failed calls for the operator.

use crate::vocabulary::error::{CallError, ErrorClass};

/// Mistakes of the model are logged at debug level, failures of a tool as warnings.
#[cold]
pub(super) fn failure(tool: &str, error: &CallError) {
    let (class, detail) = (error.class().as_str(), error.detail());
    match error.class() {
        ErrorClass::Internal | ErrorClass::Transient | ErrorClass::Timeout => {
            tracing::warn!(tool, class, detail, "{error}");
        }
        _ => tracing::debug!(tool, class, detail, "{error}"),
    }
}
