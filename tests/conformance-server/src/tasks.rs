//! Calls that continue as tasks.

use crate::questions::Named;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::sleep;
use tool_runtime::error::ProtocolError;
use tool_runtime::peer::{Answer, PeerError};
use tool_runtime::prelude::*;

/// Time that the search for a file takes.
const LOOK: Duration = Duration::from_millis(20);

/// Greet a person at once.
#[tool(read_only)]
fn greet(
    /// The name of the person.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

/// Compute for some time.
#[tool(read_only, task = "optional")]
async fn slow_compute(
    /// For how many seconds.
    #[arg(range = 0..=60)]
    seconds: u64,
    /// The name of the result.
    label: Option<String>,
) -> String {
    if seconds > 0 {
        sleep(Duration::from_secs(seconds)).await;
    }
    format!("{} is computed", label.as_deref().unwrap_or("it"))
}

/// Fail after some time.
#[tool(read_only, task = "required")]
async fn failing_job() -> Result<(), &'static str> {
    sleep(Duration::from_secs(1)).await;
    Err("the job has failed; nothing can be done")
}

/// Fail in the protocol after some time.
#[tool(read_only, task = "optional")]
async fn protocol_error_job() -> Result<(), ToolError> {
    sleep(LOOK).await;
    Err(ProtocolError::new(-32000, "the job has broken down"))?
}

#[derive(Deserialize, JsonSchema, Form)]
struct Sure {
    confirm: bool,
}

/// Delete a file, if the user is sure.
#[tool(destructive, task = "optional")]
async fn confirm_delete(
    /// The file.
    filename: String,
    context: &ToolContext,
) -> Result<String, PeerError> {
    sleep(LOOK).await;
    match context.ask::<Sure>("sure", format!("Really delete {filename}?")).await? {
        Answer::Accepted(Sure { confirm: true }) => Ok(format!("{filename} is deleted")),
        _ => Ok(format!("{filename} is kept")),
    }
}

/// Ask two things at once.
#[tool(read_only, task = "optional")]
async fn multi_input(context: &ToolContext) -> Result<String, PeerError> {
    sleep(LOOK).await;
    let (first, second) = tokio::try_join!(
        context.ask::<Named>("first", "Who is the first?"),
        context.ask::<Named>("second", "Who is the second?"),
    )?;
    let answers = first.accepted().zip(second.accepted());
    Ok(answers.map_or_else(
        || "there are not two".to_owned(),
        |(first, second)| format!("{} and {}", first.name, second.name),
    ))
}

/// Ask for a name, then continue as a task.
#[tool(read_only, task = "required")]
async fn test_tool_with_task(context: &ToolContext) -> Result<String, PeerError> {
    let name = context.ask::<Named>("user_name", "What is your name?").await?.accepted();
    sleep(LOOK).await;
    Ok(format!("done for {}", name.map_or_else(|| "nobody".to_owned(), |named| named.name)))
}
