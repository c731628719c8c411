//! The server under test: `serve` over stdio, `serve --http ADDR` over HTTP.

use schemars::JsonSchema;
use serde::Serialize;
use tool_runtime::prelude::*;

#[derive(Serialize, JsonSchema)]
struct Sum {
    result: i64,
}

/// Add two integers.
#[tool]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> Sum {
    Sum { result: a + b }
}

/// Echo the text back.
#[tool]
async fn echo(
    /// The text.
    text: String,
) -> String {
    text
}

tool_runtime::main!();
