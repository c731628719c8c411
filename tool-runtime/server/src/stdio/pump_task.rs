//! Writes to a polled descriptor: immediately if possible, else by a task.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tool_runtime_core::seam::spawn;

use super::polled::Polled;
use super::queue::Queue;
use super::writer::{Inner, Outlet, Pump, Writer};

/// A descriptor and the task that waits for it.
struct PolledOutlet {
    descriptor: Polled,
    /// Wakes the task.
    wanted: Notify,
}

/// Starts the task.
pub(super) fn start(descriptor: Polled) -> (Writer, Pump) {
    let outlet = Arc::new(PolledOutlet { descriptor, wanted: Notify::new() });
    let writer = Writer::new(Arc::clone(&outlet));
    let shared = writer.shared();
    let task = spawn(Box::pin(async move { outlet.run(&shared).await }));
    (writer, Pump(Some(task.abort_handle())))
}

impl Outlet for Arc<PolledOutlet> {
    fn wake(&self) {
        self.wanted.notify_one();
    }

    /// Writes in the sender's task, which saves a wake-up as long as the peer reads.
    fn flush(&self, shared: &Inner) {
        let mut queue = shared.lock();
        if queue.is_blocked || queue.unwritten().is_empty() {
            return;
        }
        let full = self.write_until_full(&mut queue).is_err();
        queue.is_blocked = full;
        drop(queue);
        shared.notify_waiters();
        if full {
            self.wake();
        }
    }
}

impl PolledOutlet {
    /// Waits for a full descriptor to drain, until the transport closes.
    async fn run(&self, shared: &Inner) {
        loop {
            if shared.lock().is_blocked {
                let attempt = || self.resume(shared);
                if let Err(error) = self.descriptor.write_with(attempt).await {
                    abandon(shared, error);
                }
            }
            if shared.lock().is_closed() {
                return;
            }
            let is_lost = shared.lock().lost().is_cancelled();
            let wanted = pin!(self.wanted.notified());
            let broken = pin!(async {
                match is_lost {
                    true => std::future::pending().await,
                    false => self.descriptor.broken().await,
                }
            });
            match select(wanted, broken).await {
                Either::Left(_) => {}
                Either::Right((Ok(()), _)) => {
                    shared.lock().lose();
                    shared.notify_waiters();
                }
                Either::Right((Err(error), _)) => abandon(shared, error),
            }
        }
    }

    /// Continues writing after the descriptor was full.
    fn resume(&self, shared: &Inner) -> io::Result<()> {
        let mut queue = shared.lock();
        let result = self.write_until_full(&mut queue);
        queue.is_blocked = result.is_err();
        drop(queue);
        shared.notify_waiters();
        result
    }

    /// Writes until the queue is empty, writing fails, or the descriptor is full. Returns only
    /// `WouldBlock` as an error.
    fn write_until_full(&self, queue: &mut Queue) -> io::Result<()> {
        while !queue.unwritten().is_empty() {
            match self.descriptor.try_write(queue.unwritten()) {
                Ok(0) => queue.fail(io::ErrorKind::WriteZero.into()),
                Ok(count) => queue.advance(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
                Err(error) => queue.fail(error),
            }
        }
        Ok(())
    }
}

/// The event loop itself failed, which happens when the runtime shuts down.
fn abandon(shared: &Inner, error: io::Error) {
    let mut queue = shared.lock();
    queue.is_blocked = false;
    queue.fail(error);
    drop(queue);
    shared.notify_waiters();
}
