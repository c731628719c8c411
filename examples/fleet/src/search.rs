//! The queue `search`.

use tool_runtime::prelude::*;

const PAGES: &[&str] = &[
    "A queue is a set of equal runners.",
    "A runner is a process with tools for others.",
    "A hub keeps one record of each call.",
];

/// Find pages that contain a text.
#[tool(name = "search.find", read_only)]
async fn find(
    /// The text to look for.
    text: String,
) -> Vec<&'static str> {
    let text = text.to_lowercase();
    PAGES.iter().copied().filter(|page| page.to_lowercase().contains(&text)).collect()
}
