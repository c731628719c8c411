//! Task support of tools.

use serde::{Deserialize, Serialize};

/// Whether calls may become tasks of MCP's tasks extension: the client gets a handle immediately,
/// requests the result later, and may cancel. For calls that take minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// Calls are answered when they have ended.
    #[default]
    None,
    /// Calls run as tasks if the client supports tasks.
    Optional,
    /// Only clients that support tasks can call the tool.
    Required,
}

impl TaskSupport {
    /// Whether only clients that support tasks can call the tool.
    #[doc(hidden)]
    pub fn is_required(self) -> bool {
        match self {
            Self::None | Self::Optional => false,
            Self::Required => true,
        }
    }
}
