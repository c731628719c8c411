//! An executor, which is closed once.

use super::executor::Executor;
use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, caught};
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::toolset::{Dropped, Work, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An executor that is closed once, at the latest when it is dropped.
pub(super) struct Life {
    executor: Arc<dyn Executor>,
    is_closed: AtomicBool,
    /// None for what has nothing to close.
    dropped: Option<Dropped>,
}

impl Life {
    pub(super) fn new(executor: Arc<dyn Executor>) -> Self {
        Self { executor, is_closed: AtomicBool::new(false), dropped: Some(spawn) }
    }

    /// Holds an executor that has nothing to close.
    pub(super) fn without_end(executor: Arc<dyn Executor>) -> Self {
        Self { executor, is_closed: AtomicBool::new(false), dropped: None }
    }

    pub(super) fn executor(&self) -> &dyn Executor {
        &*self.executor
    }

    /// A panic here must not cost the call its one result.
    pub(super) fn interrupt(&self, context: &ToolContext) {
        if caught(|| self.executor.interrupt(context)).is_err() {
            tracing::warn!("`interrupt` of an executor panicked");
        }
    }

    pub(super) async fn close(&self) {
        if let Some(end) = self.end() {
            end.run().await;
        }
    }

    /// Closes the executor, once, if there is anything to do: also if the result is dropped.
    fn end(&self) -> Option<Work> {
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

impl Drop for Life {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// The executor of a tool that cannot work here.
pub(super) struct Unusable(pub(super) String);

impl Executor for Unusable {
    fn call<'a>(
        &'a self,
        _: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        let error = CallError::new(ErrorClass::Internal, "the tool cannot work here")
            .with_detail(self.0.clone());
        Box::pin(std::future::ready(Err(error)))
    }

    fn is_usable(&self) -> Result<(), String> {
        Err(self.0.clone())
    }
}
