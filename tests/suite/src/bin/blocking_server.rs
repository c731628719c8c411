//! A server whose async tools block their threads.

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

/// Put the thread to sleep for an hour, with no limit, after progress was reported.
#[tool(progress)]
async fn report_and_sleep(context: &ToolContext) {
    context.progress(1, None, "");
    eprintln!("reported");
    std::thread::sleep(Duration::from_secs(3600));
}

/// Put the thread to sleep for two seconds.
#[tool]
async fn nap() {
    std::thread::sleep(Duration::from_secs(2));
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
