//! Replaces the servers of a running manager.

use super::entry::Entry;
use super::{McpManager, McpManagerError, left_out, whole};
use tool_runtime_config::McpConfig;

/// The effect of replacing the set of servers, by name, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpChange {
    /// Servers that were not there.
    pub added: Vec<String>,
    /// Servers whose entry is another one: they were disconnected and are connected to anew.
    pub changed: Vec<String>,
    /// Servers that are there no more.
    pub removed: Vec<String>,
    /// Servers that nothing happened to.
    pub kept: Vec<String>,
}

impl McpManager {
    /// Replaces all servers that came from configurations; those given by code stay. What is the
    /// same stays connected. New and changed ones are connected to in the background; see
    /// [`Self::settled`].
    ///
    /// # Errors
    /// A server cannot be what its entry says, or has the name or the prefix of one that stays.
    /// Earlier changes stay.
    pub async fn replace(&self, config: McpConfig) -> Result<McpChange, McpManagerError> {
        let manager = self.clone();
        whole(async move { manager.replaced(config).await }).await
    }

    async fn replaced(&self, config: McpConfig) -> Result<McpChange, McpManagerError> {
        let _turn = self.turn().await?;
        *self.0.left_out() = left_out(&config);
        let mut change = McpChange::default();
        let mut entries = Vec::new();
        let known = self.configured();
        for (name, server) in config.servers {
            match known.iter().find(|(other, _)| *other == name) {
                Some((_, old)) if *old == server => {
                    change.kept.push(name);
                    continue;
                }
                Some(_) => change.changed.push(name.clone()),
                None => change.added.push(name.clone()),
            }
            entries.push(Entry::of(&name, server, &self.0.settings.callbacks)?);
        }
        let stays = |name: &String| change.kept.contains(name) || change.changed.contains(name);
        change.removed = known.into_iter().map(|(name, _)| name).filter(|n| !stays(n)).collect();
        for name in change.removed.iter().chain(&change.changed) {
            self.take_out(name).await?;
        }
        for entry in entries {
            self.put(entry)?;
        }
        Ok(change)
    }
}
