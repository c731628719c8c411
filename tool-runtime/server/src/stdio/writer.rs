//! Getting messages out: one queue, written by whoever finds the descriptor free.
//!
//! Messages enter the queue in the order of the `send` calls; everything that has gathered goes
//! out in one system call. The call is made by the future that `send` returns, which rmcp runs
//! as a task of its own: by then its loop has queued the other answers that were ready, and a
//! single answer is written at once. Only a full descriptor needs the pump.

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
    shared: Arc<Shared>,
}

/// The way on which queued bytes leave.
pub(super) trait Outlet: Send + Sync {
    /// Makes the pump look at the queue's state.
    fn wake(&self);

    /// Writes what is queued, if that is possible without waiting. Otherwise the pump does.
    fn flush(&self, _: &Shared) {
        self.wake();
    }
}

/// The task to stop when the transport has closed; a thread stops by itself.
pub(super) struct Pump(pub(super) Option<tokio::task::AbortHandle>);

impl Pump {
    /// Ends the wait for a peer that does not read.
    pub(super) fn stop(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// What the handles and the pump have in common.
pub(super) struct Shared {
    queue: Mutex<Queue>,
    /// Signalled whenever the queue got shorter or failed.
    changed: Notify,
    outlet: Box<dyn Outlet>,
}

impl Writer {
    /// An empty queue in front of `outlet`.
    pub(super) fn new(outlet: impl Outlet + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                queue: Mutex::new(Queue::new(DEFAULT_QUEUE_LIMIT)),
                changed: Notify::new(),
                outlet: Box::new(outlet),
            }),
        }
    }

    /// What the pump works on.
    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Changes how many bytes may wait before senders do.
    #[cfg(all(test, unix))]
    pub(super) fn set_limit(&self, limit: usize) {
        self.shared.lock().set_limit(limit);
    }

    /// Queues a message; [`Writer::flush`] has to follow.
    pub(super) fn push(&self, message: &impl Serialize) -> io::Result<()> {
        self.shared.lock().push(message)
    }

    /// Queues a message that is written already; [`Writer::flush`] has to follow.
    pub(super) fn push_line(&self, json: &str) -> io::Result<()> {
        self.shared.lock().push_line(json)
    }

    /// Writes what is queued, or sees to it that somebody does. Never blocks.
    pub(super) fn flush(&self) {
        self.shared.outlet.flush(&self.shared);
    }

    /// Accepts no further message and tells the pump to end when the queue is empty.
    pub(super) fn close(&self) {
        self.shared.lock().close();
        self.shared.outlet.wake();
    }

    /// Resolves once little enough waits, or with the error that ended writing.
    pub(super) async fn room(&self) -> io::Result<()> {
        self.until(|queue| !queue.is_full()).await
    }

    /// Whether little enough waits.
    ///
    /// # Errors
    /// The error that ended writing.
    pub(super) fn has_room(&self) -> io::Result<bool> {
        let queue = self.shared.lock();
        queue.check().map(|()| !queue.is_full())
    }

    /// Cancelled when nobody reads any more.
    pub(super) fn lost(&self) -> CancellationToken {
        self.shared.lock().lost().clone()
    }

    /// Resolves once something waits and nothing was written for so long.
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

    /// Gives up what waits, and what comes.
    pub(super) fn give_up(&self) {
        self.shared.lock().fail(io::ErrorKind::TimedOut.into());
        self.shared.announce();
    }

    /// Resolves once nothing waits, or with the error that ended writing.
    pub(super) async fn drained(&self) -> io::Result<()> {
        self.until(Queue::is_drained).await
    }

    /// Waits for a state of the queue.
    async fn until(&self, reached: impl Fn(&Queue) -> bool) -> io::Result<()> {
        if let Some(result) = self.shared.look(&reached) {
            return result;
        }
        loop {
            // Registered before the look, so that a change in between is not missed.
            let mut changed = pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            if let Some(result) = self.shared.look(&reached) {
                return result;
            }
            changed.await;
        }
    }
}

impl Shared {
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
        self.announce();
    }

    /// Wakes the tasks that wait for the queue to get shorter.
    pub(super) fn announce(&self) {
        self.changed.notify_waiters();
    }

    /// `Some` when waiting is over: the state is reached, or never will be.
    fn look(&self, reached: impl Fn(&Queue) -> bool) -> Option<io::Result<()>> {
        let queue = self.lock();
        match queue.check() {
            Err(fault) => Some(Err(fault)),
            Ok(()) => reached(&queue).then_some(Ok(())),
        }
    }
}
