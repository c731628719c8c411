use tool_runtime::prelude::*;

/// Answer at once.
#[tool]
async fn ping() {}

fn main() {
    tool_runtime::main!(name = "ping");
}
