//! A server with narrow limits for robustness tests, over stdio or, with `http`, over HTTP.

use std::time::Duration;
use tokio::net::TcpListener;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

/// Limit on the bytes of a message.
const LIMIT: usize = 64 << 10;

/// Add two integers.
#[tool(read_only)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

/// Wait.
#[tool(read_only)]
async fn wait(
    /// Duration in milliseconds.
    millis: u64,
) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Panic.
#[tool(read_only)]
async fn boom() {
    panic!("boom");
}

/// Answer with a long text.
#[tool(read_only)]
async fn big(
    /// Length in KiB.
    kib: usize,
) -> String {
    "x".repeat(kib << 10)
}

/// Resources that the process uses.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct ResourceUsage {
    /// Resident memory, in KiB.
    memory: u64,
    /// Open file descriptors.
    descriptors: usize,
    /// Tasks of the runtime.
    tasks: usize,
}

/// Report the resources of the process.
#[tool(read_only)]
async fn usage() -> Result<ResourceUsage, ToolError> {
    // A call that waits continues in a task of its own. Otherwise it has one only from the time on when the tool was seen
    // to block its thread, which a busy machine does to it.
    tokio::task::yield_now().await;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?;
    Ok(ResourceUsage {
        memory: memory.parse()?,
        descriptors: std::fs::read_dir("/proc/self/fd")?.count(),
        tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
    })
}

fn options() -> HttpOptions {
    let (short, narrow) = (Duration::from_secs(1), 32);
    HttpOptions::default()
        .max_body(LIMIT)
        .max_sessions(narrow)
        .session_idle(short)
        .resume_timeout(short)
        .max_requests(narrow)
        .body_timeout(short)
        .write_timeout(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ToolPool::builder().linked().build()?;
    let server = McpServer::new(pool, "knocked", "1.0.0").with_line_limit(LIMIT);
    if std::env::args().nth(1).is_none_or(|word| word != "http") {
        server.serve_stdio().await?;
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    // The parent process waits for the line.
    eprintln!("{}", listener.local_addr()?);
    server.serve_http_on(listener, options()).await?;
    Ok(())
}
