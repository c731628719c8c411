use tool_runtime::prelude::*;

/// One note.
#[resource("notes://{identifier}/{colour}")]
async fn note(
    /// The number.
    #[arg(rename = "identifer")]
    _identifer: String,
    /// The page.
    _page: u32,
) -> String {
    String::new()
}

/// Another.
#[resource("notes://{id}")]
async fn other() -> String {
    String::new()
}

fn main() {}
