//! An agent at a terminal: calls are shown as they run, and a person approves the dangerous ones.
//!
//! A script stands for the model, so that the example runs without an account: `cargo run -p agent`.
//! For a real one implement [`Model`](tool_runtime_agent::Model), whose page shows how.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::io::{Write as _, stdin, stdout};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use tool_runtime::prelude::*;
use tool_runtime::{Approval, ApprovalRequest, Before, Hook, HookCall};
use tool_runtime_agent::{Agent, AgentEvent, ScriptedModel, StopReason};

/// Titles of notes.
struct Notes(Mutex<Vec<String>>);

/// List the titles of all notes.
#[tool(read_only)]
async fn list_notes(notes: &Notes) -> String {
    notes.0.lock().expect("whole").join("\n")
}

/// Delete a note.
#[tool(destructive)]
async fn delete_note(
    /// Its title.
    title: String,
    notes: &Notes,
) -> Result<String, ToolError> {
    let mut notes = notes.0.lock().expect("whole");
    let Some(index) = notes.iter().position(|known| *known == title) else {
        return Err(ToolError::user(format!("no note is titled `{title}`; call `list_notes`")));
    };
    notes.remove(index);
    Ok(format!("deleted `{title}`"))
}

/// Asks a person at the terminal. The end of the input is a no.
async fn approve(request: ApprovalRequest) -> Approval {
    print!("{} {} [y/N] ", request.question(), request.visual());
    let mut answer = String::new();
    // Nothing else runs meanwhile, so the thread may block.
    if stdout().flush().is_ok() && stdin().read_line(&mut answer).is_ok() && answer.trim() == "y" {
        return Approval::approved();
    }
    Approval::rejected("the person at the terminal said no")
}

#[tokio::main]
async fn main() -> ExitCode {
    let notes = Arc::new(Notes(Mutex::new(vec!["new".to_owned(), "old".to_owned()])));
    let ask = Hook::before("*", |call: HookCall| async move {
        match call.definition().effective_annotations().is_read_only() {
            true => Before::proceed(),
            false => Before::ask("May this run?"),
        }
    });
    let pool = ToolPool::builder()
        .tool::<ListNotesAction>()
        .tool::<DeleteNoteAction>()
        .state(Arc::clone(&notes))
        .hook(ask)
        .approver(approve)
        .build()
        .expect("a working pool");
    let model = ScriptedModel::from_json(include_str!("script.json")).expect("a script");
    let mut run = Agent::new(model, pool).system("You keep notes.").run("Delete the old note.");
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Message(text) => println!("{text}"),
            AgentEvent::Call(call) => println!("-> {} {}", call.name(), call.arguments()),
            AgentEvent::Result(result) => println!("<- {}", result.observation().to_text()),
            AgentEvent::Stopped(StopReason::Done) => return ExitCode::SUCCESS,
            AgentEvent::Stopped(reason) => println!("stopped: {reason}"),
            _ => {}
        }
    }
    ExitCode::FAILURE
}
