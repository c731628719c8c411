//! Status codes of answers, which rmcp drops for protocol errors.

use reqwest::retry::{Builder, for_host};
use std::cell::Cell;

tokio::task_local! {
    static LAST: Cell<Option<u16>>;
}

/// Runs a request and returns the status of its answer with its result. The HTTP client must have the
/// policy [`recording_status`].
pub(super) async fn with_status<T>(request: impl Future<Output = T>) -> (T, Option<u16>) {
    let noted = async { (request.await, LAST.with(Cell::get)) };
    LAST.scope(Cell::new(None), noted).await
}

/// A redirect policy that records the status: the only hook that receives it before rmcp reads the
/// answer.
pub(in crate::transport::http) fn recording_status() -> Builder {
    for_host("").no_budget().classify_fn(|seen| {
        if let Some(status) = seen.status() {
            // Requests outside of `with_status` do not record it.
            let _noted = LAST.try_with(|last| last.set(Some(status.as_u16())));
        }
        seen.success()
    })
}
