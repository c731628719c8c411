//! A file whose search ends early.

use crate::stop::Stop;
use std::io::{self, Read};

/// A file whose end comes early when the search stops.
pub(super) struct Stoppable<'a, R> {
    pub(super) reader: R,
    pub(super) stop: &'a Stop<'a>,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_due() {
            return Ok(0);
        }
        self.reader.read(buffer)
    }
}
