use tool_runtime::prelude::*;

#[tool("Add two numbers.")]
async fn add() {}

#[tool("subtract")]
async fn minus() {}

const TEXT: &str = "Multiply.";

#[tool(description = TEXT)]
async fn times() {}

fn main() {}
