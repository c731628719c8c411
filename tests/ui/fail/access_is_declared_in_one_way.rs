use tool_runtime::Access;
use tool_runtime::prelude::*;

fn touched(_: &CopyAction) -> Access {
    Access::none()
}

/// Copy a file.
#[tool(access = touched, reads("file:{_from}"))]
async fn copy(
    /// The source.
    _from: String,
) {
}

fn main() {}
