use tool_runtime::prelude::*;

/// How it is configured.
#[resource]
async fn config() -> String {
    String::new()
}

/// How it is configured.
#[resource(uri = "config://app", mime = "text/plain")]
async fn more() -> String {
    String::new()
}

fn main() {}
