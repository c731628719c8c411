//! Tools that read and change files.

mod edit;
mod text;

use crate::builtins::{Family, Profile};
use crate::workspace::Workspace;
use tool_runtime::prelude::*;

/// Tools that read and change files. See [`Builtins::files`](crate::Builtins::files).
pub struct Files {
    #[allow(dead_code, reason = "the tools use it")]
    workspace: Workspace,
}

#[toolset(prefix = "", open_world = false, register = false)]
impl Files {
    /// Read a file.
    #[tool(name = "Read", read_only, tags("core"))]
    fn read(
        &self,
        /// Path.
        file_path: String,
    ) -> Result<String, ToolError> {
        let location = self.workspace.resolve(&file_path)?;
        Ok(location.root().dir().read_to_string(location.path())?)
    }
    /// Read a file.
    #[tool(read_only, tags("core"))]
    fn file_editor(
        &self,
        /// Path.
        path: String,
    ) -> Result<String, ToolError> {
        self.read(path)
    }
}

impl Toolset for Files {
    type Params = ();

    /// The workspace is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::over(Workspace::of(context)?))
    }
}

impl Family for Files {
    fn over(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["Read"],
            Profile::OpenHands => &["file_editor"],
        }
    }
}
