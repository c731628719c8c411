use tool_runtime::prelude::*;

/// Review.
#[prompt(nme = "a", read_only, icon = "file:///a.png", mime_type = "text/plain")]
async fn review() -> String {
    String::new()
}

/// The configuration.
#[resource("config://app", mime_type = "text", audience("user", "everybody"), tags("a"), name = "")]
async fn config() -> String {
    String::new()
}

fn main() {}
