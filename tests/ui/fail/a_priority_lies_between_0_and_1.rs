use tool_runtime::prelude::*;

/// A file.
#[resource("file://a", priority = 2.0)]
async fn file() -> &'static str {
    "a"
}

fn main() {}
