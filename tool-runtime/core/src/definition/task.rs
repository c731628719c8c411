//! Whether calls may go on as tasks.

use serde::{Deserialize, Serialize};

/// Whether calls may go on as tasks of MCP's tasks extension: the client gets a handle at once,
/// asks for the result later, and may cancel. For calls that take minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// They are answered when they are done.
    #[default]
    None,
    /// They go on as tasks where the client knows them.
    Optional,
    /// Only clients that know tasks can make them.
    Required,
}

impl TaskSupport {
    /// Whether clients that know no tasks cannot call the tool.
    #[doc(hidden)]
    pub fn is_required(self) -> bool {
        match self {
            Self::None | Self::Optional => false,
            Self::Required => true,
        }
    }
}
