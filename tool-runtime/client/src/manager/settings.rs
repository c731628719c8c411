//! Settings for all servers of a manager.

use super::McpManagerError;
use crate::backoff::Backoff;
use crate::names;
use crate::pins::Approvals;
use crate::prefixes::Prefixes;
use crate::server_requests::Answerer;
use crate::transport::HostCallbacks;
use rmcp::model::Implementation;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

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
    pub(super) prefixes: Arc<Prefixes>,
    pub(super) callbacks: HostCallbacks,
    /// Servers whose annotations are acted on, whatever their entries say.
    pub(super) trusted: BTreeSet<String>,
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
            prefixes: Arc::default(),
            callbacks: HostCallbacks::default(),
            trusted: BTreeSet::new(),
        }
    }
}

impl Settings {
    /// A prefix that no other server has.
    ///
    /// # Errors
    /// Another server has the prefix, and suffixes are off.
    pub(super) fn distinct_prefix(
        &self,
        server: &str,
        prefix: String,
        taken: &[(&str, &str)],
    ) -> Result<String, McpManagerError> {
        // Without a prefix, ids are compared one by one.
        let is_same =
            |other: &&(&str, &str)| !prefix.is_empty() && other.1.eq_ignore_ascii_case(&prefix);
        match taken.iter().find(is_same) {
            None => Ok(prefix),
            Some(_) if self.suffixes => Ok(names::distinct(&prefix, server, "")),
            Some((first, _)) => {
                let (first, second) = ((*first).to_owned(), server.to_owned());
                Err(McpManagerError::SamePrefix { prefix, first, second })
            }
        }
    }
}
