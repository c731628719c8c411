//! Descriptors in the runtime's event loop.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// `MSG_DONTWAIT`, because the descriptor itself stays blocking; `MSG_NOSIGNAL`, because a closed peer is
/// an error to return. Apple has no such flag; Rust ignores the signal there.
#[cfg(not(target_vendor = "apple"))]
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
/// See above.
#[cfg(target_vendor = "apple")]
const SEND: SendFlags = SendFlags::DONTWAIT;

/// The direction a descriptor is used in.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// Read by the server.
    Input,
    /// Written by the server.
    Output,
}

/// A registered descriptor together with the system calls that never block on it.
pub(super) struct Polled {
    descriptor: AsyncFd<OwnedFd>,
    is_socket: bool,
}

impl Polled {
    /// A pipe whose own description is non-blocking.
    pub(super) fn fifo(descriptor: OwnedFd, direction: Direction) -> io::Result<Self> {
        Self::register(descriptor, direction, false)
    }

    /// A socket whose description may be shared, and blocking.
    pub(super) fn socket(descriptor: OwnedFd, direction: Direction) -> io::Result<Self> {
        Self::register(descriptor, direction, true)
    }

    /// Registers the descriptor. Checks for a runtime first, because tokio panics without one.
    fn register(descriptor: OwnedFd, direction: Direction, is_socket: bool) -> io::Result<Self> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let interest = match direction {
            Direction::Input => Interest::READABLE,
            // `WRITABLE` would be an event for each read of the peer.
            #[cfg(target_os = "linux")]
            Direction::Output if is_socket => Interest::PRIORITY,
            Direction::Output => Interest::WRITABLE,
        };
        Ok(Self { descriptor: registered(descriptor, interest)?, is_socket })
    }

    /// Appends the readable bytes to the spare capacity of `into`; `Ok(0)` is the end.
    pub(super) fn try_read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        let descriptor = self.descriptor.get_ref();
        let read = retry_on_intr(|| {
            if self.is_socket {
                recv(descriptor, spare_capacity(into), RecvFlags::DONTWAIT).map(|(read, _)| read)
            } else {
                rustix::io::read(descriptor, spare_capacity(into))
            }
        })?;
        Ok(read)
    }

    /// Writes as much as possible without waiting.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let descriptor = self.descriptor.get_ref();
        let written = retry_on_intr(|| {
            if self.is_socket {
                send(descriptor, bytes, SEND)
            } else {
                rustix::io::write(descriptor, bytes)
            }
        })?;
        Ok(written)
    }

    /// Waits until there is something to read and appends it to `into`.
    ///
    /// Dropping the future loses nothing: bytes move only in the call that also reports them.
    pub(super) async fn read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let mut ready = self.descriptor.readable().await?;
            let spare = into.capacity() - into.len();
            if let Ok(result) = ready.try_io(|_| self.try_read(into)) {
                // Less than the space: the next bytes are another event.
                if result.as_ref().is_ok_and(|read| (1..spare).contains(read)) {
                    ready.clear_ready();
                }
                return result;
            }
        }
    }

    /// Waits until the reading end is closed, where the system reports that: on Linux.
    pub(super) async fn broken(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self.is_socket {
            // A hang-up is an event for any interest.
            while !self.has_hung_up() {
                self.descriptor.ready(Interest::PRIORITY).await?.clear_ready();
            }
            return Ok(());
        }
        self.descriptor.ready(Interest::ERROR).await.map(drop)
    }

    /// Whether the other end is closed, even if unread bytes are left.
    pub(super) fn has_hung_up(&self) -> bool {
        let mut polled = [PollFd::new(self.descriptor.get_ref(), PollFlags::empty())];
        let result = retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())));
        result.is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }

    /// Waits until `attempt` stops failing with `WouldBlock`.
    pub(super) async fn write_with(
        &self,
        mut attempt: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let waiting;
        let descriptor = match self.is_socket {
            true => {
                let same = self.descriptor.get_ref().try_clone()?;
                waiting = registered(same, Interest::WRITABLE)?;
                &waiting
            }
            false => &self.descriptor,
        };
        loop {
            let mut ready = descriptor.writable().await?;
            if let Ok(result) = ready.try_io(|_| attempt()) {
                return result;
            }
        }
    }
}

fn registered(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    #[allow(
        deprecated,
        reason = "its successor is unsafe; the safe one is sound for an `OwnedFd`, which stays \
                  open and the same for as long as it is registered"
    )]
    AsyncFd::with_interest(descriptor, interest)
}
