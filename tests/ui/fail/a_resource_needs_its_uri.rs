use tool_runtime::prelude::*;

/// The configuration.
#[resource]
async fn config() -> String {
    String::new()
}

/// The configuration.
#[resource(uri = "config://app", mime = "text/plain")]
async fn more() -> String {
    String::new()
}

fn main() {}
