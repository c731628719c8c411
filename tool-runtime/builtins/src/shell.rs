//! Tools that run commands.

use crate::builtins::{Family, Profile};
use crate::workspace::Workspace;
use tool_runtime::prelude::*;

/// Tools that run commands. See [`Builtins::shell`](crate::Builtins::shell).
pub struct Shell {
    workspace: Workspace,
}

#[toolset(prefix = "", open_world = false, register = false)]
impl Shell {
    /// Name the directories of the workspace.
    #[tool(read_only, tags("specialist"))]
    fn shell_roots(&self) -> Vec<String> {
        let roots = self.workspace.roots().iter();
        roots.map(|root| root.path().display().to_string()).collect()
    }
}

impl Toolset for Shell {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::of(context)?))
    }
}

impl Family for Shell {
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
