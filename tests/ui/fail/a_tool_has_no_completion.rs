use tool_runtime::prelude::*;

fn names(_prefix: String) -> Vec<String> {
    vec![]
}

/// Greet.
#[tool]
async fn greet(
    /// The name of the person.
    #[arg(complete = names)]
    _name: String,
) {
}

fn main() {
    drop(names(String::new()));
}
