use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    _place: str,
    _context: &ToolContext,
) -> str {
    *_place
}

// Not an error: the function keeps its name and its number of parameters.
async fn call(context: &ToolContext) -> String {
    go("there", context).await
}

fn main() {}
