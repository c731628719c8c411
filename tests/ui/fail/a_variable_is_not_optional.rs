use tool_runtime::prelude::*;

/// One note.
#[resource("notes://{_id}")]
async fn note(
    /// The number.
    #[arg(default = 1, alias = "number")]
    _id: u32,
) -> String {
    String::new()
}

fn main() {}
