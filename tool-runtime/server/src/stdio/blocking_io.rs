//! Blocking calls on a descriptor that another process may have made non-blocking.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

/// A file whose reads and writes block, independent of its flags.
///
/// The flag belongs to the open file description: a host that shares its terminal with us, as
/// those written for Node do, makes our reads fail with `WouldBlock` in the middle of a session.
pub(super) struct BlockingIo(pub(super) File);

impl BlockingIo {
    /// Repeats `call` until the result is not `WouldBlock`.
    fn wait_for<T>(
        &mut self,
        event: PollFlags,
        mut call: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match call(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    retry_on_intr(|| poll(&mut [PollFd::new(&self.0, event)], None))?;
                }
                result => return result,
            }
        }
    }
}

impl Read for BlockingIo {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for(PollFlags::IN, |file| file.read(buffer))
    }
}

impl Write for BlockingIo {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.wait_for(PollFlags::OUT, |file| file.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
