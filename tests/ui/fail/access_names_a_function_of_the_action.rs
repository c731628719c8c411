use tool_runtime::Access;
use tool_runtime::prelude::*;

fn touched(path: &str) -> Access {
    drop(path);
    Access::none()
}

/// Copy a file.
#[tool(access = touched)]
async fn copy(
    /// The source.
    _from: String,
) {
}

struct Files;

#[toolset(register = false)]
impl Files {
    fn every(_: &FilesListAction) -> &'static str {
        "file:"
    }

    /// List files.
    #[tool(access = Self::every)]
    async fn list(&self) {}
}

fn main() {}
