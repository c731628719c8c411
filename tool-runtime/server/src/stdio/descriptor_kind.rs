//! Chooses how to wait for a descriptor.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, fstat};

use super::blocking_io::BlockingIo;
use super::polled::{Direction, Polled};

/// A descriptor by the way it is read or written.
pub(super) enum Opened {
    /// Waited for by the runtime's event loop.
    Polled(Polled),
    /// Handled by a separate thread: event loops reject regular files, and a terminal's
    /// non-blocking flag would leak into the shell that shares it.
    Blocking(BlockingIo),
}

/// Opens a descriptor by its kind according to `fstat`. Needs a runtime with its I/O driver enabled.
pub(super) fn open_by_kind(descriptor: OwnedFd, direction: Direction) -> io::Result<Opened> {
    match FileType::from_raw_mode(fstat(&descriptor)?.st_mode) {
        FileType::Fifo => match reopen(&descriptor, direction) {
            Some(private) => Polled::fifo(private, direction).map(Opened::Polled),
            None => Ok(blocking(descriptor)),
        },
        FileType::Socket => Polled::socket(descriptor, direction).map(Opened::Polled),
        _ => Ok(blocking(descriptor)),
    }
}

/// Reads or writes with a thread.
fn blocking(descriptor: OwnedFd) -> Opened {
    Opened::Blocking(BlockingIo(descriptor.into()))
}

/// Opens the same pipe again, without blocking.
///
/// The flag belongs to the open file description, which a duplicate shares with every process that
/// inherited the pipe; only a new description keeps it to ourselves. Fails without `/proc`, after a
/// change of user, and on an output whose reader has closed: a thread is used instead.
#[cfg(target_os = "linux")]
fn reopen(descriptor: &OwnedFd, direction: Direction) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Mode, OFlags, open};

    let access = match direction {
        Direction::Input => OFlags::RDONLY,
        Direction::Output => OFlags::WRONLY,
    };
    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// This system cannot reopen a pipe.
#[cfg(not(target_os = "linux"))]
fn reopen(_: &OwnedFd, _: Direction) -> Option<OwnedFd> {
    None
}
