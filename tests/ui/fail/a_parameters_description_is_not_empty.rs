use tool_runtime::prelude::*;

/// Say hello.
#[tool]
async fn greet(
    ///
    _name: String,
) {
}

fn main() {}
