//! Tools that find files by name and by content.

use crate::builtins::{Family, Profile};
use crate::workspace::Workspace;
use tool_runtime::prelude::*;

/// Tools that find files by name and by content. See [`Builtins::search`](crate::Builtins::search).
pub struct Search {
    workspace: Workspace,
}

#[toolset(prefix = "", open_world = false, register = false)]
impl Search {
    /// Name the directories of the workspace.
    #[tool(read_only, tags("specialist"))]
    fn search_roots(&self) -> Vec<String> {
        let roots = self.workspace.roots().iter();
        roots.map(|root| root.path().display().to_string()).collect()
    }
}

impl Toolset for Search {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::of(context)?))
    }
}

impl Family for Search {
    fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &[],
            Profile::OpenHands => &[],
        }
    }
}
