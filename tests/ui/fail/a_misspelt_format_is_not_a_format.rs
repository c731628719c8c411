use tool_runtime::prelude::*;

/// Say hello.
#[tool]
async fn greet(
    /// The time.
    #[arg(format = "datetime")]
    _when: String,
    /// The address.
    #[arg(format = "emial")]
    _mail: String,
) {
}

fn main() {}
