use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use tool_runtime::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Borrowed<'a> {
    text: &'a str,
}

#[derive(Deserialize, JsonSchema)]
struct Shared<'a> {
    text: Cow<'a, str>,
}

/// Count letters.
#[tool]
async fn count(
    /// The text.
    text: Borrowed,
) -> usize {
    text.text.len()
}

/// Count letters of some texts.
#[tool]
fn count_all(
    /// The texts.
    texts: Vec<Borrowed<'static>>,
) -> usize {
    texts.len()
}

/// Count letters of a shared text.
#[tool]
async fn count_shared(
    /// The text.
    text: Shared,
) -> usize {
    text.text.len()
}

/// Count letters of an owned text.
#[tool]
async fn count_owned(
    /// The text.
    text: Shared<'static>,
) -> usize {
    text.text.len()
}

fn main() {}
