use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// The first number.
    a: i64,
}

struct Parameters<T>(T);

/// Add.
#[tool]
async fn add(Parameters(Add { a }): Parameters<Add>) -> i64 {
    a
}

/// Add again.
#[tool]
async fn again(parameters: Parameters<Add>) -> i64 {
    parameters.0.a
}

fn main() {}
