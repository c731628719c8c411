//! Policies of a pool: rules, limits, modes, files that change.

mod attacks;
mod children;
mod combined;
mod files;
mod limits;
mod offerings;

use crate::support::class;
use tool_runtime::govern::{Approval, ApprovalRequest};
use tool_runtime::policy::{Format, Policies, Policy};
use tool_runtime::prelude::*;

/// Read a file.
#[tool(name = "fs.read", read_only)]
async fn read(
    /// The path.
    #[arg(alias = "file")]
    path: String,
) -> String {
    format!("read {path}")
}

/// Write a file.
#[tool(name = "fs.write", tags("edit"))]
async fn write(
    /// The path.
    path: String,
) -> String {
    format!("wrote {path}")
}

/// Read a file by another tool.
#[tool(name = "agent", read_only)]
async fn agent(
    /// The path.
    path: String,
    context: &ToolContext,
) -> String {
    let call = ToolCall::json("fs.read", serde_json::json!({ "path": path }));
    context.call(call).await.observation().to_text()
}

fn yaml(text: &str) -> Policy {
    Policy::parse(text, Format::Yaml).unwrap_or_else(|error| panic!("{error}"))
}

fn builder() -> tool_runtime::ToolPoolBuilder {
    ToolPool::builder().tool::<ReadAction>().tool::<WriteAction>().tool::<AgentAction>()
}

fn pool(rules: &str) -> ToolPool {
    builder().install(Policies::new().policy(yaml(rules))).build().unwrap()
}

fn reading(path: &str) -> ToolCall {
    ToolCall::json("fs.read", serde_json::json!({ "path": path }))
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::approved()
}

/// The outcome of a call: `ran`, `denied`, `rejected`, `limited`, or the class of another error.
async fn fate(pool: &ToolPool, call: ToolCall) -> &'static str {
    let result = pool.call(call).await;
    if !result.is_error() {
        return "ran";
    }
    match class(&result) {
        ErrorClass::Denied => "denied",
        ErrorClass::ApprovalRejected => "rejected",
        ErrorClass::RateLimited => "limited",
        ErrorClass::Input => "invalid",
        _ => "failed",
    }
}
