//! The agent of the README: built-in tools, a policy and a log, asked by a real model.
//!
//! `ANTHROPIC_API_KEY=.. cargo run -p tool-runtime-genai --example notes`
#![allow(clippy::print_stdout, missing_docs, unreachable_pub, reason = "a program for people")]

use tool_runtime::audit::EventLog;
use tool_runtime::policy::{Format, Policy};
use tool_runtime::{cli::TerminalApprover, prelude::*};
use tool_runtime_agent::{Agent, AgentEvent, Model};
use tool_runtime_builtins::{Builtins, Workspace};
use tool_runtime_genai::GenaiModel;

type BoxError = Box<dyn std::error::Error>;

const POLICY: &str = "default: deny
rules:
  - {id: read, when: {annotations: {read_only: true}}, then: allow}
  - {id: write, when: {tools: [Write, Edit]}, then: {decision: ask, reason: 'May it be written?'}}
";

pub fn agent(model: impl Model, notes: &str, log: &str) -> Result<Agent, BoxError> {
    let workspace = Workspace::builder().root(notes).build()?;
    let pool = ToolPool::builder()
        .install(Builtins::new(workspace).files())
        .install(Policy::parse(POLICY, Format::Yaml)?)
        .install(EventLog::open(log)?)
        .approver(TerminalApprover::new())
        .build()?;
    Ok(Agent::new(model, pool).system("You keep the notes in the working directory."))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut run =
        agent(GenaiModel::new("claude-sonnet-4-6")?, "notes", "calls.db")?.run("Tidy up.");
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Call(call) => println!("{} {}", call.name(), call.arguments()),
            AgentEvent::Message(text) => println!("{text}"),
            AgentEvent::Stopped(reason) => println!("{reason}"),
            _ => {}
        }
    }
    Ok(())
}
