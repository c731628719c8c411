//! Logs failed calls for the operator.

use crate::error::{CallError, ErrorClass};

/// A model's slip is worth a debug line, a broken tool a warning.
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
