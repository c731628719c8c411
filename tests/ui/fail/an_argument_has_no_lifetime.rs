use tool_runtime::prelude::*;
use std::borrow::Cow;

/// Go.
#[tool]
async fn go(
    /// Where to.
    _place: Cow<'a, str>,
) {
}

/// Go there.
#[tool]
async fn go_there<'a>(
    /// Where to.
    _place: Cow<'a, str>,
) {
}

/// Go home.
#[tool]
async fn go_home<'a>(
    /// How far.
    _far: i64,
) {
}

fn main() {}
