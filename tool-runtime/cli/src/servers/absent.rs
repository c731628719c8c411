//! Explains missing tools of servers that are not connected.

use super::state;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tool_runtime_client::McpServerStatus;
use tool_runtime_config::McpConfig;
use tool_runtime_core::seam::Absence;
use tool_runtime_core::{CallError, ErrorClass, ToolPool};

/// Knows of servers that could not be connected to.
pub(super) struct Absent {
    /// What the ids of their tools begin with.
    prefixes: BTreeMap<String, String>,
    /// Why, by the names of servers.
    faults: OnceLock<BTreeMap<String, String>>,
}

impl Absent {
    /// Is asked by a pool before whoever is made later, a manager of the servers above all.
    pub(super) fn among(pool: &ToolPool, config: &McpConfig) -> Arc<Self> {
        let prefix = |(name, server): (&String, &tool_runtime_config::McpServerConfig)| {
            (name.clone(), server.prefix.clone().unwrap_or_else(|| name.clone()))
        };
        let prefixes = config.servers.iter().map(prefix).collect();
        let absent = Arc::new(Self { prefixes, faults: OnceLock::new() });
        let weak = Arc::downgrade(&absent);
        pool.ask_of_absence(weak);
        absent
    }

    /// Learns how the servers are, once.
    pub(super) fn know(&self, statuses: &[McpServerStatus]) {
        let fault =
            |status: &McpServerStatus| Some((status.name.clone(), state::fault(&status.state)?));
        drop(self.faults.set(statuses.iter().filter_map(fault).collect()));
    }
}

impl Absence for Absent {
    fn why(&self, tool: &str) -> Option<CallError> {
        let is_its_own = |name: &str| {
            let prefix = self.prefixes.get(name).filter(|prefix| !prefix.is_empty());
            let rest = prefix.and_then(|prefix| tool.strip_prefix(prefix.as_str()));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let (name, fault) = self.faults.get()?.iter().find(|(name, _)| is_its_own(name))?;
        let text = format!("the MCP server `{name}` is not connected: {fault}");
        Some(CallError::new(ErrorClass::Transient, text))
    }
}
