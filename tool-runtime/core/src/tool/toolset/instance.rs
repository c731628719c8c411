//! One value of a toolset: shared by its tools, closed once.

use super::closing::{Dropped, Work, spawn};
use super::{Toolset, ToolsetMethods};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::caught;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use futures_util::future::{Either, select};
use std::any::{Any, type_name};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// Grace period for running calls after they are interrupted.
const CALL_GRACE: Duration = Duration::from_secs(5);

/// Limit on closing a value.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// One value of a toolset, with the calls that run on it.
pub(crate) struct Instance {
    value: Arc<dyn Erased>,
    is_closed: AtomicBool,
    /// Cancelled when the grace period of running calls has passed.
    ending: CancellationToken,
    dropped: Dropped,
    running: Mutex<Vec<(u64, ToolContext)>>,
    is_idle: Notify,
    /// Dropped when the value is closed.
    unclosed: Option<watch::Receiver<()>>,
}

impl Instance {
    pub(super) fn new<T: Toolset>(value: T) -> Self {
        Self {
            value: Arc::new(value),
            is_closed: AtomicBool::new(false),
            ending: CancellationToken::new(),
            dropped: spawn,
            running: Mutex::default(),
            is_idle: Notify::new(),
            unclosed: None,
        }
    }

    /// Keeps a receiver until the value is closed.
    pub(super) fn counted_by(mut self, unclosed: watch::Receiver<()>) -> Self {
        self.unclosed = Some(unclosed);
        self
    }

    /// Adds the value to a call's context, and counts the call as running until the guard is
    /// dropped. `None` if the value was closed while the call waited.
    pub(crate) fn enter(self: &Arc<Self>, context: ToolContext) -> Option<(ToolContext, Running)> {
        let value: Arc<dyn Any + Send + Sync> = Arc::clone(&self.value) as _;
        let context = context.with_receiver(value);
        let mut running = self.running();
        if self.is_closed.load(Ordering::SeqCst) {
            return None;
        }
        let number = running.last().map_or(0, |(last, _)| last + 1);
        running.push((number, context.clone()));
        drop(running);
        Some((context, Running { instance: Arc::clone(self), number }))
    }

    /// Interrupts a call of the value.
    pub(crate) fn interrupt(&self, context: &ToolContext) {
        // The call keeps its result when this panics.
        if caught(|| self.value.interrupt(context)).is_err() {
            tracing::warn!("`interrupt` of a toolset panicked");
        }
    }

    /// Cancelled when calls have to end.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// Closes the value, if it is not closed yet: interrupts its calls, waits for them, and cancels
    /// those that do not end.
    pub(crate) async fn close(&self) {
        let Some(end) = self.end() else { return };
        let contexts: Vec<ToolContext> = self.running().iter().map(|(_, c)| c.clone()).collect();
        contexts.iter().for_each(|context| self.interrupt(context));
        if !contexts.is_empty() && within(CALL_GRACE, self.idle()).await.is_none() {
            tracing::warn!("a toolset is closed, and calls that still run are cancelled");
            self.ending.cancel();
            within(CALL_GRACE, self.idle()).await;
        }
        if within(CLOSE_TIMEOUT, end.run()).await.is_none() {
            tracing::warn!("a toolset did not close within {CLOSE_TIMEOUT:?} and was abandoned");
        }
    }

    /// The work of closing the value, for the first caller. Dropping it also closes the value.
    fn end(&self) -> Option<Work> {
        let is_first = !self.is_closed.swap(true, Ordering::SeqCst);
        is_first.then(|| {
            let (unclosed, close) = (self.unclosed.clone(), Arc::clone(&self.value).close());
            let close = async move {
                close.await;
                drop(unclosed);
            };
            Work::new(Box::pin(close), self.dropped)
        })
    }

    async fn idle(&self) {
        loop {
            let notified = self.is_idle.notified();
            if self.running().is_empty() {
                return;
            }
            notified.await;
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<(u64, ToolContext)>> {
        lock(&self.running)
    }
}

/// The output of work within a limit. On a runtime without timers, no limit applies.
pub(super) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let Ok(timer) = caught(|| tokio::time::sleep(limit)) else {
        return Some(work.await);
    };
    match select(pin!(work), pin!(timer)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

/// A destructor cannot wait: the value is closed in the background.
impl Drop for Instance {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// A call that runs on an instance.
pub(crate) struct Running {
    instance: Arc<Instance>,
    number: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.instance.running();
        running.retain(|(number, _)| *number != self.number);
        if running.is_empty() {
            self.instance.is_idle.notify_waiters();
        }
    }
}

/// A toolset behind one pointer.
trait Erased: Any + Send + Sync {
    fn interrupt(&self, call: &ToolContext);
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

impl<T: Toolset> Erased for T {
    fn interrupt(&self, call: &ToolContext) {
        Toolset::interrupt(self, call);
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { Toolset::close(&*self).await })
    }
}

/// `&self` of a method that runs as a tool. The only bound is the trait that `#[toolset]` implements,
/// so that a missing `impl Toolset` is one error, not one per method.
///
/// # Panics
/// If the context neither belongs to a tool of `T` nor has a `T` as state.
pub fn receiver<T: ToolsetMethods>(context: &ToolContext) -> &T {
    let receiver = context.receiver::<T>();
    receiver.or_else(|| context.get::<T>()).unwrap_or_else(|| {
        panic!(
            "no value of the toolset `{}` was given; call the tool through a pool, or write `.with(value)` on the context",
            type_name::<T>()
        )
    })
}
