//! The tools as a caller sees them.

mod lists;
mod plan;
mod properties;
mod questions;

use super::PeopleParams;
use crate::{Builtins, Profile, Workspace};
use serde_json::Value;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::prelude::*;

fn builtins(params: PeopleParams, profile: Profile) -> Builtins {
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
    Builtins::new(workspace).profiles([profile]).people(params)
}

fn builder(params: PeopleParams) -> ToolPoolBuilder {
    ToolPool::builder().install(builtins(params, Profile::Standard)).check_outputs()
}

/// The text of a result, and whether it is an error.
async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> (String, bool) {
    let result = pool.call(ToolCall::json(tool, arguments)).await;
    (result.observation().to_text(), result.is_error())
}

/// The text of a result that is not an error.
async fn text(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    let (text, is_error) = call(pool, tool, arguments).await;
    assert!(!is_error, "{text}");
    text
}

/// The text of an error.
async fn error(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    let (text, is_error) = call(pool, tool, arguments).await;
    assert!(is_error, "{text}");
    text
}
