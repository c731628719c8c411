use tool_runtime::prelude::*;

/// Answer at once.
#[tool]
async fn ping() {}

mod misspelt {
    tool_runtime::main!(sate = 5, port = 80, name = "a", name = "b", timeout = "30s", mcp = "a.json");
}

mod colon {
    tool_runtime::main!(state: 5);
}

mod semicolon {
    tool_runtime::main!(name = "a"; title = "b");
}

fn main() {}
