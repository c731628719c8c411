use tool_runtime::prelude::*;

/// Read notes.
#[resource("notes://{ids}")]
async fn notes(
    /// Their numbers.
    ids: Vec<u64>,
) -> String {
    format!("{ids:?}")
}

fn main() {}
