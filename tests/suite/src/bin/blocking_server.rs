//! A server whose async tools block their threads.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;
use tool_runtime::prelude::*;

/// Spin forever.
#[tool(timeout = "1s")]
async fn spin() {
    eprintln!("spinning");
    loop {
        std::hint::spin_loop();
    }
}

/// Put the thread to sleep for an hour.
#[tool(timeout = "1s")]
async fn sleep() {
    eprintln!("sleeping");
    std::thread::sleep(Duration::from_secs(3600));
}

/// Spin forever, with no limit.
#[tool]
async fn endless_spin() {
    loop {
        std::hint::spin_loop();
    }
}

/// Put the thread to sleep for an hour, with no limit.
#[tool]
async fn endless_sleep() {
    std::thread::sleep(Duration::from_secs(3600));
}

/// Put the thread to sleep for an hour, with no limit, after progress was reported.
#[tool(progress)]
async fn report_and_sleep(context: &ToolContext) {
    context.progress(1, None, "");
    eprintln!("reported");
    std::thread::sleep(Duration::from_secs(3600));
}

/// Block the thread until a connection is closed by the other side.
#[tool]
async fn nap(
    /// To where to connect.
    address: String,
) -> std::io::Result<()> {
    TcpStream::connect(address)?.read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Answer with a long text.
#[tool]
async fn long_text() -> String {
    "x".repeat(500_000)
}

/// Answer at once.
#[tool]
async fn quick() -> &'static str {
    "done"
}

/// Answer after waiting.
#[tool]
async fn delayed() -> &'static str {
    tokio::time::sleep(Duration::from_millis(20)).await;
    "done"
}

/// Sleep instead of answering.
#[prompt(timeout = "1s")]
async fn sleepy_prompt() -> String {
    std::thread::sleep(Duration::from_secs(3600));
    String::new()
}

/// Sleep instead of being read.
#[resource("test://sleepy", timeout = "1s")]
async fn sleepy_resource() -> String {
    std::thread::sleep(Duration::from_secs(3600));
    String::new()
}

tool_runtime::main!();
