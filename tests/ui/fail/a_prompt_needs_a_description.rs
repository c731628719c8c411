use tool_runtime::prelude::*;

#[prompt]
async fn review() -> String {
    String::new()
}

///
#[resource("config://app")]
async fn config() -> String {
    String::new()
}

/// Translate.
#[prompt]
async fn translate(_language: String) -> String {
    String::new()
}

fn main() {}
