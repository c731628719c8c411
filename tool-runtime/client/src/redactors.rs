//! The redactors of one server.

use tool_runtime_config::McpServerConfig;
use tool_runtime_core::seam::Redactor;

/// Limit on the characters of a server's text in the log, a status or an error.
const MAX_LINE: usize = 2000;

/// Keeps the secrets of a server's entry out of everything that the server sends.
#[derive(Default)]
pub(super) struct Redactors {
    /// Replaces all values of the entry, for the log, status and errors.
    pub(super) log: Redactor,
    /// Replaces only secrets, for results, which must remain usable.
    pub(super) results: Redactor,
}

impl Redactors {
    pub(super) fn new(entry: Option<&McpServerConfig>) -> Self {
        entry.map_or_else(Self::default, |entry| Self {
            log: entry.redactor(),
            results: entry.result_redactor(),
        })
    }

    /// Text of a server on one line, for the log, a status or an error.
    pub(super) fn line(&self, text: &str) -> String {
        self.log.line(text, MAX_LINE)
    }
}
