use tool_runtime::prelude::*;

/// No scheme.
#[resource("notes")]
async fn no_scheme() -> String {
    String::new()
}

/// Not closed.
#[resource("notes://{id")]
async fn not_closed() -> String {
    String::new()
}

/// No variable.
#[resource("notes://list{?page}")]
async fn query() -> String {
    String::new()
}

/// Nothing between.
#[resource("notes://{_a}{_b}")]
async fn between(
    /// One.
    _a: String,
    /// Other.
    _b: String,
) -> String {
    String::new()
}

/// Twice.
#[resource("notes://{_a}/{_a}")]
async fn twice(
    /// One.
    _a: String,
) -> String {
    String::new()
}

fn main() {}
