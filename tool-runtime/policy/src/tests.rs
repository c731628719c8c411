//! Documents, decisions, attacks; what pools make of policies.

mod attacks;
mod documents;
mod effective;
mod folders;
mod golden;
mod modes;
mod offerings;
mod people;
mod pools;
mod properties;
mod sources;
mod touches;
mod wildcards;

use crate::{Format, Policy, SampleCall};
use tool_runtime_core::govern::{Approval, ApprovalRequest, Decision, Effect};
use tool_runtime_core::pool::{ToolPool, ToolPoolBuilder};
use tool_runtime_core::tool::{Tool, ToolCall};
use tool_runtime_core::vocabulary::error::ErrorClass;

pub(crate) fn yaml(text: &str) -> Policy {
    Policy::parse(text, Format::Yaml).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The mistakes of a string, each as `line key text; help`.
fn mistakes(text: &str, format: Format) -> Vec<String> {
    let error = Policy::parse(text, format).expect_err("a policy with mistakes");
    error.problems().iter().map(ToString::to_string).collect()
}

fn try_call(policy: &Policy, tool: &str, arguments: &str) -> Decision {
    policy.try_call(&SampleCall::new(tool).arguments_text(arguments))
}

fn effect(policy: &Policy, tool: &str, arguments: &str) -> Effect {
    try_call(policy, tool, arguments).effect()
}

/// Tools that read, edit, and do something else.
fn tools() -> ToolPoolBuilder {
    let tool = |name: &str| Tool::builder(name, "Answer at once.");
    ToolPool::builder()
        .add(tool("fs.read").read_only(true).handler(|| async { "read" }))
        .add(tool("fs.write").tags(["edit"]).handler(|| async { "wrote" }))
        .add(tool("run").handler(|| async { "ran" }))
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::approved()
}

/// The outcome of a call without arguments: `ran`, `denied`, `limited`, or the class of another error.
async fn fate(pool: &ToolPool, tool: &str) -> String {
    let result = pool.call(ToolCall::new(tool, "")).await;
    match result.error().map(|error| error.class()) {
        None => "ran".to_owned(),
        Some(ErrorClass::Denied) => "denied".to_owned(),
        Some(ErrorClass::RateLimited) => "limited".to_owned(),
        Some(class) => format!("{class:?}"),
    }
}
