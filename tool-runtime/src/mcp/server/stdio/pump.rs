//! Who writes when the sender cannot: a task for polled descriptors, a thread for the others.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, PoisonError};

#[cfg(unix)]
use tokio::sync::Notify;

#[cfg(unix)]
use super::polled::Polled;
#[cfg(unix)]
use super::queue::Queue;
use super::writer::{Shared, Writer};

/// How queued bytes leave.
pub(super) enum Outlet {
    /// Written by the sender; a task takes over while the descriptor is full.
    #[cfg(unix)]
    Polled {
        /// The descriptor.
        descriptor: Polled,
        /// Wakes the task.
        full: Notify,
    },
    /// Written by a thread, woken through this: a write to a file or terminal may block.
    Thread(Condvar),
}

/// The task behind a polled outlet, stopped when the transport has closed.
pub(super) struct Pump(Option<tokio::task::AbortHandle>);

impl Outlet {
    /// Writes now or has it written; see [`Writer::flush`].
    pub(super) fn flush(&self, shared: &Shared) {
        match self {
            #[cfg(unix)]
            Self::Polled { descriptor, full } => {
                if write_directly(descriptor, shared) {
                    full.notify_one();
                }
            }
            Self::Thread(wake) => wake.notify_one(),
        }
    }

    /// Makes the pump look at the queue's state.
    pub(super) fn wake(&self) {
        match self {
            #[cfg(unix)]
            Self::Polled { full, .. } => full.notify_one(),
            Self::Thread(wake) => wake.notify_one(),
        }
    }
}

impl Pump {
    /// Sorts a descriptor and prepares to write it. Needs a runtime.
    #[cfg(unix)]
    pub(super) fn open(descriptor: std::os::fd::OwnedFd) -> io::Result<(Writer, Self)> {
        use super::sort::{Direction, Sorted, sort};

        match sort(descriptor, Direction::Output)? {
            Sorted::Polled(descriptor) => Ok(Self::task(descriptor)),
            Sorted::Blocking(file) => Self::thread(file),
        }
    }

    /// Starts the task for a polled descriptor.
    #[cfg(unix)]
    fn task(descriptor: Polled) -> (Writer, Self) {
        let writer = Writer::new(Outlet::Polled {
            descriptor,
            full: Notify::new(),
        });
        let task = tokio::spawn(drain_when_full(writer.shared()));
        (writer, Self(Some(task.abort_handle())))
    }

    /// Starts the thread for everything else.
    ///
    /// It may sit in a write when the process ends, which is why it is not one of the runtime's
    /// blocking threads: those are waited for.
    pub(super) fn thread(output: impl Write + Send + 'static) -> io::Result<(Writer, Self)> {
        let writer = Writer::new(Outlet::Thread(Condvar::new()));
        let shared = writer.shared();
        std::thread::Builder::new()
            .name("stdio-writer".to_owned())
            .spawn(move || write_batches(&shared, output))?;
        Ok((writer, Self(None)))
    }

    /// Stops the task, and with it the wait for a peer that does not read.
    pub(super) fn stop(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// The sender's attempt. True when the descriptor turned out to be full.
#[cfg(unix)]
fn write_directly(descriptor: &Polled, shared: &Shared) -> bool {
    let mut queue = shared.lock();
    if queue.stuck || queue.unwritten().is_empty() {
        return false;
    }
    queue.stuck = write_until_full(descriptor, &mut queue).is_err();
    let stuck = queue.stuck;
    drop(queue);
    shared.announce();
    stuck
}

/// Writes until nothing is left or, which is the only error returned, `WouldBlock`.
#[cfg(unix)]
fn write_until_full(descriptor: &Polled, queue: &mut Queue) -> io::Result<()> {
    while !queue.unwritten().is_empty() {
        match descriptor.try_write(queue.unwritten()) {
            Ok(0) => queue.fail(io::ErrorKind::WriteZero.into()),
            Ok(count) => queue.advance(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            Err(error) => queue.fail(error),
        }
    }
    Ok(())
}

/// The life of the task: waits for a full descriptor to drain, until the transport closes.
#[cfg(unix)]
async fn drain_when_full(shared: Arc<Shared>) {
    let Outlet::Polled { descriptor, full } = &shared.outlet else {
        return;
    };
    loop {
        if shared.lock().stuck {
            let result = descriptor.write_with(|| resume(descriptor, &shared)).await;
            if let Err(error) = result {
                abandon(&shared, error);
            }
        }
        if shared.lock().is_closed() {
            return;
        }
        full.notified().await;
    }
}

/// The task's attempt; it stays in charge as long as the descriptor is full.
#[cfg(unix)]
fn resume(descriptor: &Polled, shared: &Shared) -> io::Result<()> {
    let mut queue = shared.lock();
    let result = write_until_full(descriptor, &mut queue);
    queue.stuck = result.is_err();
    drop(queue);
    shared.announce();
    result
}

/// The event loop itself failed, which happens when the runtime shuts down.
#[cfg(unix)]
fn abandon(shared: &Shared, error: io::Error) {
    let mut queue = shared.lock();
    queue.stuck = false;
    queue.fail(error);
    drop(queue);
    shared.announce();
}

/// The life of the thread: takes everything that waits, writes it, until the transport closes.
fn write_batches(shared: &Shared, mut output: impl Write) {
    let mut batch = Vec::new();
    while next_batch(shared, &mut batch) {
        let result = output.write_all(&batch).and_then(|()| output.flush());
        batch.clear();
        let mut queue = shared.lock();
        match result {
            Ok(()) => queue.batch_written(),
            Err(error) => queue.fail(error),
        }
        drop(queue);
        shared.announce();
    }
}

/// Waits for something to write; false when the transport closed and nothing is left.
fn next_batch(shared: &Shared, batch: &mut Vec<u8>) -> bool {
    let Outlet::Thread(wake) = &shared.outlet else {
        return false;
    };
    let mut queue = wake
        .wait_while(shared.lock(), |queue| {
            queue.unwritten().is_empty() && !queue.is_closed()
        })
        .unwrap_or_else(PoisonError::into_inner);
    queue.take_batch(batch);
    !batch.is_empty()
}
