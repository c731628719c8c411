//! Start time of twenty servers that need half a second each, compared with one server.

use super::{Outcome, program};
use std::time::{Duration, Instant};
use tool_runtime::mcp::{McpManager, McpServerConfig};
use tool_runtime::prelude::*;

const MANY: usize = 20;
const ROUNDS: usize = 3;

#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
pub(super) async fn measure() -> Outcome<()> {
    let (mut one, mut many) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        one = one.min(started(1).await?);
        many = many.min(started(MANY).await?);
    }
    println!(
        "start of {MANY} servers that take 500 ms each: {:.2} times the start of one",
        many.as_secs_f64() / one.as_secs_f64()
    );
    Ok(())
}

/// Waits until the tools of all servers are in the pool.
async fn started(count: usize) -> Outcome<Duration> {
    let pool = ToolPool::builder().allow_empty().build()?;
    let server = program("ours")?;
    let script = format!("sleep 0.5; exec '{}' serve", server.display());
    let server = || McpServerConfig::stdio("sh").args(["-c".to_owned(), script.clone()]);
    let builder = (0..count).fold(McpManager::builder(), |builder, number| {
        builder.server(format!("s{number}"), server())
    });
    let began = Instant::now();
    let manager = builder.connect(&pool).await?;
    let time = began.elapsed();
    let tools = pool.snapshot().tools().len();
    manager.close().await;
    if tools == 2 * count {
        Ok(time)
    } else {
        Err(format!("{tools} tools of {count} servers").into())
    }
}
