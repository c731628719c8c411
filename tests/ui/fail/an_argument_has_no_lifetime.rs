use tool_runtime::prelude::*;
use std::borrow::Cow;

/// Go.
#[tool]
async fn go(
    /// The destination.
    _place: Cow<'a, str>,
) {
}

/// Go there.
#[tool]
async fn go_there<'a>(
    /// The destination.
    _place: Cow<'a, str>,
) {
}

/// Go home.
#[tool]
async fn go_home<'a>(
    /// The distance.
    _far: i64,
) {
}

fn main() {}
