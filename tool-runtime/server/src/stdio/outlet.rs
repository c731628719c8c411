//! The output side of the transport.

#[cfg(unix)]
use std::io;
use std::sync::{Arc, Condvar};

use tokio::sync::Notify;

#[cfg(unix)]
use super::pump_task::{self, PolledOutlet};
#[cfg(unix)]
use super::pump_thread;
#[cfg(unix)]
use super::writer::Writer;

/// How queued bytes leave.
pub(super) enum Outlet {
    /// Written by the sender; a task takes over while the descriptor is full.
    #[cfg(unix)]
    Polled(Arc<PolledOutlet>),
    /// Written by a thread, woken through this: a write to a file or terminal may block.
    Thread(Arc<Condvar>),
    /// Written by a task, woken through this, into the memory of a test.
    Memory(Arc<Notify>),
}

/// What to stop when the transport has closed; a thread stops by itself.
pub(super) struct Pump(pub(super) Option<tokio::task::AbortHandle>);

impl Outlet {
    /// Makes the task or thread look at the queue's state.
    pub(super) fn wake(&self) {
        match self {
            #[cfg(unix)]
            Self::Polled(outlet) => outlet.wake(),
            Self::Thread(wake) => wake.notify_one(),
            Self::Memory(wake) => wake.notify_one(),
        }
    }
}

impl Pump {
    /// Ends the wait for a peer that does not read.
    pub(super) fn stop(&self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Sorts a descriptor and prepares to write it. Needs a runtime.
#[cfg(unix)]
pub(super) fn open(descriptor: std::os::fd::OwnedFd) -> io::Result<(Writer, Pump)> {
    use super::descriptor_kind::{Opened, open_by_kind};
    use super::polled::Direction;

    match open_by_kind(descriptor, Direction::Output)? {
        Opened::Polled(descriptor) => Ok(pump_task::start(descriptor)),
        Opened::Blocking(file) => pump_thread::start(file),
    }
}
