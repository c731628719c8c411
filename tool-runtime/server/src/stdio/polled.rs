//! Descriptors in the runtime's event loop.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// `MSG_DONTWAIT`, because the descriptor itself stays blocking; `MSG_NOSIGNAL`, because a peer
/// that went away is an error to return and no reason to die. Apple has no such flag, there we
/// rely on Rust ignoring the signal at start.
#[cfg(not(target_vendor = "apple"))]
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
/// See above.
#[cfg(target_vendor = "apple")]
const SEND: SendFlags = SendFlags::DONTWAIT;

/// The direction a descriptor is used in.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// We read.
    Input,
    /// We write.
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

    /// Tells the event loop; the runtime is asked for first because tokio panics without one.
    fn register(descriptor: OwnedFd, direction: Direction, is_socket: bool) -> io::Result<Self> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let interest = match direction {
            Direction::Input => Interest::READABLE,
            // Errors and the end of both directions are always reported.
            Direction::Output => Interest::WRITABLE,
        };
        #[allow(
            deprecated,
            reason = "its successor is unsafe; the safe one is sound for an `OwnedFd`, which \
                      stays open and the same for as long as it is registered"
        )]
        let descriptor = AsyncFd::with_interest(descriptor, interest)?;
        Ok(Self { descriptor, is_socket })
    }

    /// Appends what can be read now to the spare capacity of `into`; `Ok(0)` is the end.
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

    /// Writes what can be written now.
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
            if let Ok(result) = ready.try_io(|_| self.try_read(into)) {
                return result;
            }
        }
    }

    /// Waits until nobody reads what is written here any more.
    pub(super) async fn broken(&self) -> io::Result<()> {
        if !self.is_socket {
            return self.descriptor.ready(Interest::ERROR).await.map(drop);
        }
        loop {
            // Not `readable`: a peer that only ended its own direction leaves it set for good.
            let mut ready = self.descriptor.writable().await?;
            if self.has_hung_up() {
                return Ok(());
            }
            ready.clear_ready();
        }
    }

    /// Whether the other end is closed, whatever is still to be read.
    pub(super) fn has_hung_up(&self) -> bool {
        let mut polled = [PollFd::new(self.descriptor.get_ref(), PollFlags::empty())];
        let told = retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())));
        told.is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }

    /// Waits until `attempt` stops failing with `WouldBlock`. It is tried before waiting, because
    /// `broken` clears a readiness that nobody had used.
    pub(super) async fn write_with(
        &self,
        mut attempt: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        loop {
            match attempt() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            let mut ready = self.descriptor.writable().await?;
            if let Ok(result) = ready.try_io(|_| attempt()) {
                return result;
            }
        }
    }
}
