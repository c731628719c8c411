//! Replaces the servers of a running manager.

use super::entry::Entry;
use super::{McpManager, McpManagerError, left_out, run_to_end};
use tool_runtime_config::McpConfig;

/// The effect of replacing the set of servers, by name, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpChange {
    /// New servers.
    pub added: Vec<String>,
    /// Servers with another entry: they were disconnected and connect again.
    pub changed: Vec<String>,
    /// Removed servers.
    pub removed: Vec<String>,
    /// Unchanged servers.
    pub kept: Vec<String>,
}

impl McpManager {
    /// Replaces all servers of configurations; servers from code stay. Unchanged servers stay connected. New and changed
    /// ones connect in the background; see [`Self::settled`].
    ///
    /// # Errors
    /// An entry is invalid, or its name or prefix is taken. Earlier changes stay.
    pub async fn replace(&self, config: McpConfig) -> Result<McpChange, McpManagerError> {
        let manager = self.clone();
        run_to_end(async move { manager.replaced(config).await }).await
    }

    async fn replaced(&self, config: McpConfig) -> Result<McpChange, McpManagerError> {
        let _lock = self.lock_servers().await?;
        *self.0.left_out() = left_out(&config);
        let mut change = McpChange::default();
        let mut entries = Vec::new();
        let known = self.configs();
        for (name, server) in config.servers {
            match known.iter().find(|(other, _)| *other == name) {
                Some((_, old)) if *old == server => {
                    change.kept.push(name);
                    continue;
                }
                Some(_) => change.changed.push(name.clone()),
                None => change.added.push(name.clone()),
            }
            entries.push(Entry::from_config(&name, server, &self.0.settings.callbacks)?);
        }
        let stays = |name: &String| change.kept.contains(name) || change.changed.contains(name);
        change.removed = known.into_iter().map(|(name, _)| name).filter(|n| !stays(n)).collect();
        for name in change.removed.iter().chain(&change.changed) {
            self.remove_entry(name).await?;
        }
        for entry in entries {
            self.insert_entry(entry)?;
        }
        Ok(change)
    }
}
