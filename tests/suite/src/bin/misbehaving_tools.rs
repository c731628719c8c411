//! A server whose tools misbehave.

use std::io::{Read as _, Write as _};
use std::process::Command;
use std::time::Duration;
use tool_runtime::content::ContentAnnotations;
use tool_runtime::prelude::*;

/// Print to standard output.
#[tool]
#[allow(clippy::print_stdout)]
async fn print_line() -> &'static str {
    println!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}}");
    eprintln!("and on standard error");
    "done"
}

/// Print in every way, and read standard input; returns the number of bytes read.
#[tool]
#[allow(clippy::print_stdout)]
fn print_everywhere() -> std::io::Result<usize> {
    let forged = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}";
    print!("{forged} and no end of the line");
    std::io::stdout().flush()?;
    std::fs::File::options().write(true).open("/dev/stdout")?.write_all(forged.as_bytes())?;
    let child = Command::new("sh").args(["-c", "cat; echo forged by a child"]).status()?;
    assert!(child.success());
    std::io::stdin().read_to_end(&mut Vec::new())
}

/// Control the terminal.
#[tool]
async fn escape(
    /// Whether the text is an error.
    fail: bool,
) -> Result<&'static str, ToolError> {
    let text = "\u{1b}]0;title\u{7}\u{1b}[31mline\nnext\u{202e}";
    if fail { Err(ToolError::user(text)) } else { Ok(text) }
}

/// Panic.
#[tool]
async fn boom() {
    panic!("boom");
}

/// Wait until the call is cancelled.
#[tool]
async fn hang() {
    eprintln!("hanging");
    let _guard = LogOnDrop;
    std::future::pending::<()>().await;
}

struct LogOnDrop;

impl Drop for LogOnDrop {
    fn drop(&mut self) {
        eprintln!("dropped");
    }
}

/// Return a list, whose schema older clients reject.
#[tool(read_only)]
async fn numbers() -> Vec<u32> {
    vec![1, 2]
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    id: u32,
}

/// Find one, or nothing.
#[tool(read_only)]
async fn find(
    /// The number.
    id: u32,
) -> Option<Found> {
    (id > 0).then_some(Found { id })
}

/// Give back a picture.
#[tool(read_only)]
async fn picture() -> ContentBlock {
    ContentBlock::image("AAAA", "image/png")
}

/// Fail with an error that only the operator may see.
#[tool]
async fn broken() -> Result<(), ToolError> {
    Err(ToolError::internal("the database is gone"))
}

/// Return content that MCP does not define.
#[tool]
async fn undefined_content() -> Observation {
    let annotations = ContentAnnotations::default().with_audience(["everyone"]);
    ContentBlock::text("hello").with_extra(annotations.into()).into()
}

/// Sleep on the blocking pool.
#[tool]
fn sleepy(
    /// For how many milliseconds.
    millis: u64,
) -> &'static str {
    std::thread::sleep(Duration::from_millis(millis));
    "slept"
}

tool_runtime::main!(instructions = "Do not use these.", title = "Odd");
