use tool_runtime::prelude::*;

/// Review.
#[prompt]
struct Review;

/// The configuration.
#[resource("config://app")]
struct Config;

/// Generic.
#[prompt]
async fn generic<T>() -> String {
    String::new()
}

/// Unsafe.
#[resource("config://unsafe")]
async unsafe fn not_safe() -> String {
    String::new()
}

struct Shelf;

impl Shelf {
    /// A method.
    #[prompt]
    async fn method(&self) -> String {
        String::new()
    }
}

fn main() {}
