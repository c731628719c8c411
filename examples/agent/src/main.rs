//! An agent at a terminal: calls and their progress are shown as they run, and a person approves plans and
//! dangerous calls. It searches the web, delegates to sub-agents and schedules jobs, which run while the program lives.
//!
//! A script replaces the model, so that the example runs without an account: `cargo run -p agent`.
//!
//! `cargo run -p agent --features genai -- --model claude-sonnet-4-6 "Tidy my notes."` asks a model, with
//! the key from `ANTHROPIC_API_KEY`; `--mcp-config .mcp.json` adds the tools of MCP servers.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod jobs;
mod notes;
mod options;

use jobs::Jobs;
use notes::{DeleteNotesAction, ListNotesAction, Notes};
use options::{BoxError, Options};
use std::process::ExitCode;
use std::sync::Arc;
use tool_runtime::cli::TerminalApprover;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::mcp::McpConfig;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;
use tool_runtime_agent::{Agent, AgentEvent, StopReason, SubAgents};
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::schedule::Schedule;
use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
use tool_runtime_builtins::web::{SearchParams, WebParams};
use tool_runtime_builtins::{Builtins, Workspace};

/// The agent's tools. Calls that may change something are asked about, those of sub-agents too.
fn pool(
    options: &Options,
    workspace: Workspace,
    tasks: TaskStore,
    schedule: &Schedule,
) -> Result<ToolPool, BoxError> {
    // Answers may also come from a script.
    let terminal = TerminalApprover::new().piped();
    let ask = Hook::before("*", |call: HookCall| async move {
        let only_starts = ["Agent", "Task"].contains(&call.name());
        match only_starts || call.definition().effective_annotations().is_read_only() {
            true => Before::proceed(),
            false => Before::ask("May this run?"),
        }
    });
    let permissions = Permissions::new(PermissionMode::Bypass);
    let agents = SubAgents::new(options.explorer()?).permissions(permissions.clone());
    let person = terminal.clone();
    let people = PeopleParams::new().permissions(permissions).asker(move |question| {
        let person = person.clone();
        async move {
            let answer = person.ask_line(&question.to_string()).await;
            answer.ok_or_else(|| ToolError::user("the person at the terminal has left"))
        }
    });
    let web = WebParams {
        search: options.searxng.clone().map(|url| SearchParams::Searxng { url }),
        allowed_hosts: options.private_hosts.clone(),
        ..WebParams::default()
    };
    let builtins = Builtins::new(workspace)
        .people(people)
        .web(web)
        .schedule(schedule)
        .tasks(TasksParams::new(tasks).agents(Arc::new(agents)));
    Ok(ToolPool::builder()
        .tool::<ListNotesAction>()
        .tool::<DeleteNotesAction>()
        .state(Notes::new(&["new", "old", "older"]))
        .install(builtins)
        .hook(ask)
        .approver(terminal)
        .build()?)
}

/// Shows an event. Returns the reason if it is the end.
fn show(event: AgentEvent) -> Option<StopReason> {
    match event {
        AgentEvent::Servers(servers) => {
            servers.iter().for_each(|server| println!("{}: {}", server.name, server.state));
        }
        AgentEvent::Message(text) => println!("{text}"),
        AgentEvent::Call(call) => println!("-> {} {}", call.name(), call.arguments()),
        AgentEvent::Progress { progress, .. } => {
            println!("   {} {}", progress.done, progress.message.unwrap_or_default());
        }
        AgentEvent::Result(result) => println!("<- {}", result.observation().to_text()),
        AgentEvent::SubAgent { id, event } => {
            if let AgentEvent::Call(call) = *event {
                println!("   {id} -> {} {}", call.name(), call.arguments());
            }
        }
        AgentEvent::Stopped(reason) => return Some(reason),
        _ => {}
    }
    None
}

async fn run() -> Result<ExitCode, BoxError> {
    let options = Options::parse()?;
    let directory = tempfile::tempdir()?;
    let tasks = TaskStore::open(directory.path().join("tasks.db"))?;
    let workspace = Workspace::builder().root(".").build()?;
    let schedule = jobs::open(&workspace, directory.path())?;
    let pool = pool(&options, workspace, tasks, &schedule)?;
    let jobs = Jobs::start(&schedule, &pool);
    let mut agent = Agent::new(options.model()?, pool).system("You keep notes.");
    if let Some(file) = &options.mcp_config {
        agent = agent.mcp_servers(McpConfig::from_file(file)?);
    }
    let mut run = agent.run(options.task());
    let mut end = None;
    while let Some(event) = run.next().await {
        end = show(event);
    }
    let usage = run.usage();
    run.close().await;
    jobs.finish(options.runs).await?;
    match end {
        Some(StopReason::Done) => {
            println!("{} tokens in, {} out", usage.input, usage.output);
            Ok(ExitCode::SUCCESS)
        }
        Some(reason) => Err(format!("the agent stopped: {reason}").into()),
        None => Ok(ExitCode::FAILURE),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    run().await.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
