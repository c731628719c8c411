use tool_runtime::prelude::*;

/// Say hello.
#[tool]
async fn greet(
    /// When.
    #[arg(format = "datetime")]
    _when: String,
    /// Where.
    #[arg(format = "emial")]
    _mail: String,
) {
}

fn main() {}
