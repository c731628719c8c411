//! The queue of outgoing bytes.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Default limit on unwritten bytes before senders wait.
pub(super) const DEFAULT_QUEUE_LIMIT: usize = 4 * 1024 * 1024;

/// An empty buffer that grew beyond this size is freed.
const KEEP: usize = 1024 * 1024;

/// Number of written bytes that are removed from a buffer in use.
#[cfg(unix)]
const COMPACT: usize = 256 * 1024;

/// The queue of lines to write, protected by a lock.
pub(super) struct Queue {
    bytes: Vec<u8>,
    /// The number of written `bytes`.
    written: usize,
    /// Bytes of the batch that is being written.
    in_progress: usize,
    limit: usize,
    error: Option<Arc<io::Error>>,
    /// Cancelled when the peer no longer reads, at the latest with the error.
    lost: CancellationToken,
    /// Bytes written to the descriptor so far.
    total: u64,
    closed: bool,
    /// The descriptor was full, and a task waits for it.
    #[cfg(unix)]
    pub(super) is_blocked: bool,
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            written: 0,
            in_progress: 0,
            limit,
            error: None,
            lost: CancellationToken::new(),
            total: 0,
            closed: false,
            #[cfg(unix)]
            is_blocked: false,
        }
    }

    /// Changes the limit on unwritten bytes.
    #[cfg(all(test, unix))]
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Appends one message and a newline. A message that cannot be serialised is not added in part.
    pub(super) fn push(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.check_open()?;
        let start = self.bytes.len();
        if let Err(error) = serde_json::to_writer(&mut self.bytes, message) {
            self.bytes.truncate(start);
            return Err(error.into());
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    /// Appends one serialised message, and a newline.
    pub(super) fn push_line(&mut self, json: &str) -> io::Result<()> {
        self.check_open()?;
        self.bytes.extend_from_slice(json.as_bytes());
        self.bytes.push(b'\n');
        Ok(())
    }

    fn check_open(&self) -> io::Result<()> {
        self.check()?;
        match self.closed {
            true => Err(io::Error::new(io::ErrorKind::NotConnected, "the transport is closed")),
            false => Ok(()),
        }
    }

    /// The bytes to write next.
    pub(super) fn unwritten(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Notes that `count` bytes of [`Queue::unwritten`] were written.
    #[cfg(unix)]
    pub(super) fn advance(&mut self, count: usize) {
        self.written += count;
        self.total += count as u64;
        if self.written == self.bytes.len() {
            self.reset();
        } else if self.written >= COMPACT && self.written >= self.bytes.len() - self.written {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }

    /// Takes all queued bytes, for a writer that must not hold the lock. They count as unwritten
    /// until [`Queue::batch_written`].
    pub(super) fn take_batch(&mut self) -> Vec<u8> {
        let batch = std::mem::take(&mut self.bytes);
        self.in_progress = batch.len();
        batch
    }

    /// Notes that the batch was written.
    pub(super) fn batch_written(&mut self) {
        self.total += self.in_progress as u64;
        self.in_progress = 0;
    }

    /// Ends writing with an error. Unwritten bytes are lost.
    pub(super) fn fail(&mut self, error: io::Error) {
        tracing::debug!(%error, "writing to the peer failed");
        self.error = Some(Arc::new(error));
        self.lost.cancel();
        self.in_progress = 0;
        self.reset();
    }

    /// Accepts no more messages. Queued ones are still written.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether [`Queue::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether senders have to wait.
    pub(super) fn is_full(&self) -> bool {
        self.waiting() > self.limit
    }

    /// Whether everything was written.
    pub(super) fn is_drained(&self) -> bool {
        self.waiting() == 0
    }

    /// The error that ended writing, if one did.
    pub(super) fn check(&self) -> io::Result<()> {
        match &self.error {
            Some(error) => Err(io::Error::new(error.kind(), Arc::clone(error))),
            None => Ok(()),
        }
    }

    /// Notes that the peer no longer reads, which is an error only if bytes are unwritten.
    pub(super) fn lose(&mut self) {
        self.lost.cancel();
        if !self.is_drained() {
            self.fail(io::ErrorKind::BrokenPipe.into());
        }
    }

    /// Cancelled when the peer no longer reads.
    pub(super) fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Bytes written to the descriptor so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes not yet given to the system.
    fn waiting(&self) -> usize {
        self.bytes.len() - self.written + self.in_progress
    }

    /// Empties the buffer, keeping its memory only when that is little.
    fn reset(&mut self) {
        self.written = 0;
        self.bytes.clear();
        if self.bytes.capacity() > KEEP {
            self.bytes = Vec::new();
        }
    }
}
