//! Points at which tests end the process. They do nothing without the feature `__crash-points`.

/// Ends the process as a crash does, if `TOOL_REMOTE_CRASH_AT` names this point.
#[cfg(feature = "__crash-points")]
pub(crate) fn crash_point(name: &str) {
    use std::sync::LazyLock;

    static CRASH_AT: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("TOOL_REMOTE_CRASH_AT").ok());
    if CRASH_AT.as_deref() == Some(name) {
        std::process::abort();
    }
}

#[cfg(not(feature = "__crash-points"))]
#[inline(always)]
pub(crate) fn crash_point(_name: &str) {}
