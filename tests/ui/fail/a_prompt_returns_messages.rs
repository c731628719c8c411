use tool_runtime::prelude::*;

struct Point;

/// Review.
#[prompt]
async fn review() -> Point {
    Point
}

/// Review again.
#[prompt]
async fn again() -> Result<Vec<String>, ToolError> {
    Ok(vec![])
}

/// Return a borrow.
#[prompt]
async fn borrowed() -> Option<&str> {
    None
}

fn main() {}
