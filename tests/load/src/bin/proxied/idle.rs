//! Memory of idle connections.

use super::{Outcome, program};
use std::fs;
use tool_runtime::mcp::{McpManager, McpServerConfig};
use tool_runtime::prelude::*;

const FEW: usize = 5;
const MANY: usize = 55;

#[expect(clippy::print_stdout, reason = "the result is the output of the program")]
pub(super) async fn measure() -> Outcome<()> {
    // Allocations that happen once have happened by now.
    let few = resident_with(FEW).await?;
    let many = resident_with(MANY).await?;
    let each = many.saturating_sub(few) / u64::try_from(MANY - FEW)?;
    println!("memory of this process for an idle server over stdio: {each} KiB");
    Ok(())
}

/// Resident memory in KiB with this number of connections.
async fn resident_with(count: usize) -> Outcome<u64> {
    let pool = ToolPool::builder().allow_empty().build()?;
    let server = program("ours")?;
    let server = server.to_str().ok_or("an odd path")?;
    let builder = (0..count).fold(McpManager::builder(), |builder, number| {
        builder.server(format!("s{number}"), McpServerConfig::stdio(server).arg("serve"))
    });
    let manager = builder.connect(&pool).await?;
    let resident_with = resident()?;
    manager.close().await;
    Ok(resident_with)
}

fn resident() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}
