//! One skill.

use crate::servers::Servers;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use tool_runtime_core::pool::DeclaredTools;

/// Name of the file in the folder of a skill.
pub(crate) const FILE: &str = "SKILL.md";

/// A skill: instructions for a task, the tools that it needs, and MCP servers that run meanwhile.
pub struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) folder: PathBuf,
    pub(crate) text: String,
    pub(crate) tools: DeclaredTools,
    pub(crate) is_for_models: bool,
    pub(crate) servers: Servers,
    pub(crate) front_matter: Map<String, Value>,
}

impl Skill {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description, by which a model chooses the skill.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The folder of the skill.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the skill.
    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The instructions as they are written, with placeholders.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tools that it allows and denies.
    pub fn tools(&self) -> &DeclaredTools {
        &self.tools
    }

    /// Whether a model may load it: `disable-model-invocation` is not `true`.
    pub fn is_for_models(&self) -> bool {
        self.is_for_models
    }

    /// The MCP servers that run while it is active.
    #[cfg(feature = "mcp-client")]
    pub fn servers(&self) -> &tool_runtime_config::McpConfig {
        &self.servers.0
    }

    /// All keys of the front matter, those of other programs included, except `mcpServers`: its values
    /// may be secret.
    pub fn front_matter(&self) -> &Map<String, Value> {
        &self.front_matter
    }

    /// Whether loading it changes anything. Otherwise it is only text, which needs no scope.
    pub(crate) fn has_scope(&self) -> bool {
        self.is_restricted() || !self.servers.is_empty()
    }

    pub(crate) fn is_restricted(&self) -> bool {
        self.tools.allow.is_some() || !self.tools.deny.is_empty()
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("name", &self.name)
            .field("folder", &self.folder)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
