//! Writes messages: one queue, written by the sender or by a pump.
//!
//! Messages are queued in the order of the `send` calls, and written together by one system call. The call is made by
//! the future that `send` returns, which rmcp runs as a separate task: by then its loop has queued the other answers
//! that were ready, and a single answer is written immediately. Only a full descriptor needs the pump.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::lock;

use serde::Serialize;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::queue::{DEFAULT_QUEUE_LIMIT, Queue};

/// A handle on the outgoing half; clones share it.
#[derive(Clone)]
pub(super) struct Writer {
    shared: Arc<Inner>,
}

/// The destination of queued bytes.
pub(super) trait Outlet: Send + Sync {
    /// Makes the pump check the queue.
    fn wake(&self);

    /// Writes the queued bytes, if that is possible without waiting. Otherwise the pump writes them.
    fn flush(&self, _: &Inner) {
        self.wake();
    }
}

/// The task to stop when the transport has closed; a thread stops by itself.
pub(super) struct Pump(pub(super) Option<tokio::task::AbortHandle>);

impl Pump {
    /// Ends waiting for a peer that does not read.
    pub(super) fn stop(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// The state that the handles and the pump share.
pub(super) struct Inner {
    queue: Mutex<Queue>,
    /// Signalled whenever the queue got shorter or failed.
    changed: Notify,
    outlet: Box<dyn Outlet>,
}

impl Writer {
    /// An empty queue in front of `outlet`.
    pub(super) fn new(outlet: impl Outlet + 'static) -> Self {
        Self {
            shared: Arc::new(Inner {
                queue: Mutex::new(Queue::new(DEFAULT_QUEUE_LIMIT)),
                changed: Notify::new(),
                outlet: Box::new(outlet),
            }),
        }
    }

    /// The state for the pump.
    pub(super) fn shared(&self) -> Arc<Inner> {
        Arc::clone(&self.shared)
    }

    /// Changes the number of unwritten bytes at which senders wait.
    #[cfg(all(test, unix))]
    pub(super) fn set_limit(&self, limit: usize) {
        self.shared.lock().set_limit(limit);
    }

    /// Queues a message; [`Writer::flush`] has to follow.
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<()> {
        self.shared.lock().push(message)
    }

    /// Queues a serialised message; [`Writer::flush`] has to follow.
    pub(super) fn push_line(&self, json: &str) -> io::Result<()> {
        self.shared.lock().push_line(json)
    }

    /// Writes the queue, or starts the pump. Never blocks.
    pub(super) fn flush(&self) {
        self.shared.outlet.flush(&self.shared);
    }

    /// Accepts no more messages and ends the pump when the queue is empty.
    pub(super) fn close(&self) {
        self.shared.lock().close();
        self.shared.outlet.wake();
    }

    /// Resolves once the queue is below its limit, or with the error that ended writing.
    pub(super) async fn capacity(&self) -> io::Result<()> {
        self.until(|queue| !queue.is_full()).await
    }

    /// Whether the queue is below its limit.
    ///
    /// # Errors
    /// The error that ended writing.
    pub(super) fn has_capacity(&self) -> io::Result<bool> {
        let queue = self.shared.lock();
        queue.check().map(|()| !queue.is_full())
    }

    /// Cancelled when the peer no longer reads.
    pub(super) fn lost(&self) -> CancellationToken {
        self.shared.lock().lost().clone()
    }

    /// Resolves once bytes are unwritten and nothing was written for `limit`.
    pub(super) async fn stalled(&self, limit: Duration) {
        let mut progress = (0, Instant::now());
        loop {
            let (total, is_drained) = {
                let queue = self.shared.lock();
                (queue.total(), queue.is_drained())
            };
            if is_drained || total != progress.0 {
                progress = (total, Instant::now());
            } else if progress.1.elapsed() >= limit {
                return;
            }
            tokio::time::sleep(limit / 10).await;
        }
    }

    /// Ends writing. Unwritten bytes are lost.
    pub(super) fn give_up(&self) {
        self.shared.lock().fail(io::ErrorKind::TimedOut.into());
        self.shared.notify_waiters();
    }

    /// Resolves once everything is written, or with the error that ended writing.
    pub(super) async fn drained(&self) -> io::Result<()> {
        self.until(Queue::is_drained).await
    }

    /// Waits for a state of the queue.
    async fn until(&self, reached: impl Fn(&Queue) -> bool) -> io::Result<()> {
        if let Some(result) = self.shared.check(&reached) {
            return result;
        }
        loop {
            // Registered before the check, so that a change in between is not missed.
            let mut changed = pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            if let Some(result) = self.shared.check(&reached) {
                return result;
            }
            changed.await;
        }
    }
}

impl Inner {
    /// The queue. Poisoning is ignored: no step leaves the queue half changed.
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Notes how writing a batch of the queue has ended.
    pub(super) fn batch_written(&self, result: io::Result<()>) {
        match result {
            Ok(()) => self.lock().batch_written(),
            Err(error) => self.lock().fail(error),
        }
        self.notify_waiters();
    }

    /// Wakes the tasks that wait for the queue to get shorter.
    pub(super) fn notify_waiters(&self) {
        self.changed.notify_waiters();
    }

    /// `Some` when waiting has ended: the state is reached, or cannot be reached.
    fn check(&self, reached: impl Fn(&Queue) -> bool) -> Option<io::Result<()>> {
        let queue = self.lock();
        match queue.check() {
            Err(error) => Some(Err(error)),
            Ok(()) => reached(&queue).then_some(Ok(())),
        }
    }
}
