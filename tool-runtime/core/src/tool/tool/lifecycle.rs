//! The lifecycle of an executor: interrupted by calls, closed once.

use super::executor::Executor;
use crate::tool::arguments::Arguments;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::toolset::{Dropped, Work, spawn};
use crate::vocabulary::error::{CallError, ErrorClass, caught};
use crate::vocabulary::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An executor that is closed once, at the latest when it is dropped.
pub(super) struct ExecutorLifecycle {
    executor: Arc<dyn Executor>,
    is_closed: AtomicBool,
    /// `None` for an executor without a `close`.
    dropped: Option<Dropped>,
}

impl ExecutorLifecycle {
    pub(super) fn new(executor: Arc<dyn Executor>) -> Self {
        Self { executor, is_closed: AtomicBool::new(false), dropped: Some(spawn) }
    }

    /// The lifecycle of an executor without a `close`.
    pub(super) fn without_close(executor: Arc<dyn Executor>) -> Self {
        Self { executor, is_closed: AtomicBool::new(false), dropped: None }
    }

    pub(super) fn executor(&self) -> &dyn Executor {
        &*self.executor
    }

    /// Catches a panic, so that the call still has its result.
    pub(super) fn interrupt(&self, context: &ToolContext) {
        if caught(|| self.executor.interrupt(context)).is_err() {
            tracing::warn!("`interrupt` of an executor panicked");
        }
    }

    pub(super) async fn close(&self) {
        if let Some(end) = self.start_close() {
            end.run().await;
        }
    }

    /// Starts to close the executor, once. The returned work also runs when it is dropped.
    fn start_close(&self) -> Option<Work> {
        let dropped = self.dropped?;
        if self.is_closed.swap(true, Ordering::SeqCst) {
            return None;
        }
        let end = caught(|| Arc::clone(&self.executor).close());
        end.unwrap_or_else(|_| {
            tracing::warn!("`close` of an executor panicked");
            None
        })
        .map(|end| Work::new(end, dropped))
    }
}

impl Drop for ExecutorLifecycle {
    fn drop(&mut self) {
        drop(self.start_close());
    }
}

/// The executor of an unusable tool.
pub(super) struct Unusable(pub(super) String);

impl Executor for Unusable {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        let error = CallError::new(ErrorClass::Internal, "the tool is unavailable")
            .with_detail(self.0.clone());
        Box::pin(std::future::ready(Err(error)))
    }

    fn is_usable(&self) -> Result<(), String> {
        Err(self.0.clone())
    }
}
