//! Output of a child that is not a message.

use super::tail::Tail;
use std::sync::Arc;

/// Keeps such lines with those of the standard error.
pub(crate) struct Stray {
    pub(super) tail: Arc<Tail>,
    pub(super) server: Arc<str>,
}

impl Stray {
    /// Keeps a line, and logs it at debug level.
    pub(crate) fn keep(&self, line: &[u8]) {
        self.tail.take_line(line, |line| {
            tracing::debug!(target: "tool_runtime::mcp::server_stdout", server = &*self.server, "{line}");
        });
    }
}
