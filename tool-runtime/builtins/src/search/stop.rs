//! The end of a search before it is complete: the call was cancelled, or took too long.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tool_runtime::ToolContext;

/// Ends work that is cancelled or takes too long.
///
/// Loops end early when it is due, and their results are then incomplete. Once due, it stays due, so one check at the
/// end of the work is enough.
pub(super) struct Stop<'a> {
    context: &'a ToolContext,
    deadline: Instant,
    has_expired: AtomicBool,
}

impl<'a> Stop<'a> {
    pub(super) fn after(limit: Duration, context: &'a ToolContext) -> Self {
        Self { context, deadline: Instant::now() + limit, has_expired: AtomicBool::new(false) }
    }

    /// The context of the call.
    pub(super) fn context(&self) -> &'a ToolContext {
        self.context
    }

    /// Whether the work ends now.
    pub(super) fn is_due(&self) -> bool {
        if self.has_expired() || self.context.is_cancelled() {
            return true;
        }
        let is_late = Instant::now() >= self.deadline;
        if is_late {
            self.has_expired.store(true, Ordering::Relaxed);
        }
        is_late
    }

    /// Whether the time was up before the work was complete.
    pub(super) fn has_expired(&self) -> bool {
        self.has_expired.load(Ordering::Relaxed)
    }
}

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
