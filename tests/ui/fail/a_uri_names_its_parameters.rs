use tool_runtime::prelude::*;

/// One note.
#[resource("notes://{identifier}/{colour}")]
async fn note(
    /// Which.
    #[arg(rename = "identifer")]
    _identifer: String,
    /// Where.
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
