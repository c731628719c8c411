use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go<T>(
    /// The destination.
    _place: T,
) {
}

/// Go.
#[tool]
async fn go_there(
    /// The destination.
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
