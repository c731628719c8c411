//! Settings for all servers of a manager.

use super::McpManagerError;
use crate::backoff::Backoff;
use crate::names;
use crate::pins::Approvals;
use crate::server_requests::Answerer;
use crate::transport::HostCallbacks;
use rmcp::model::Implementation;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::tool::Secrets;

/// Defaults for all servers of a manager, which entries override.
pub(super) struct Settings {
    pub(super) client: Implementation,
    pub(super) answerer: Answerer,
    pub(super) suffixes: bool,
    pub(super) connect_timeout: Duration,
    pub(super) call_timeout: Duration,
    pub(super) max_call_duration: Duration,
    pub(super) backoff: Backoff,
    pub(super) approvals: Arc<Approvals>,
    pub(super) callbacks: HostCallbacks,
    /// Trusted servers, in addition to those with `trusted` in their entries.
    pub(super) trusted: BTreeSet<String>,
    /// Gets the secrets of all entries.
    pub(super) secrets: Option<Secrets>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            client: Implementation::new("tool-runtime", env!("CARGO_PKG_VERSION")),
            answerer: Answerer::default(),
            suffixes: false,
            connect_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(300),
            max_call_duration: Duration::from_secs(3600),
            backoff: Backoff::default(),
            approvals: Arc::default(),
            callbacks: HostCallbacks::default(),
            trusted: BTreeSet::new(),
            secrets: None,
        }
    }
}

impl Settings {
    /// A prefix that is unique: neither equal to that of another server, nor nested in it.
    ///
    /// # Errors
    /// The prefix conflicts with that of another server, and suffixes are off.
    pub(super) fn distinct_prefix(
        &self,
        server: &str,
        prefix: String,
        taken: &[(&str, &str)],
    ) -> Result<String, McpManagerError> {
        match taken.iter().find(|(_, other)| overlap(other, &prefix)) {
            None => Ok(prefix),
            Some(_) if self.suffixes => Ok(names::distinct(&prefix.replace('.', "_"), server, "")),
            Some((first, other)) => {
                let prefix = if other.len() < prefix.len() { (*other).to_owned() } else { prefix };
                let (first, second) = ((*first).to_owned(), server.to_owned());
                Err(McpManagerError::SamePrefix { prefix, first, second })
            }
        }
    }
}

/// Whether tools of two prefixes could have the same ids. Ids without a prefix have no dots.
fn overlap(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (Some(head), Some(tail)) = (long.get(..short.len()), long.get(short.len()..)) else {
        return false;
    };
    let is_nested = head.eq_ignore_ascii_case(short) && (tail.is_empty() || tail.starts_with('.'));
    !short.is_empty() && is_nested
}
