use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go<T>(
    /// Where to.
    _place: T,
) {
}

/// Go.
#[tool]
async fn go_there(
    /// Where to.
    _place: impl Into<String>,
) {
}

/// Go.
#[tool]
async fn go_home() -> impl std::fmt::Display {
    1
}

/// Go.
#[tool]
async fn go_on()
where
    String: Clone,
{
}

fn main() {}
