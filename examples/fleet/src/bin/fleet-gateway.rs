//! One MCP server with the tools of all runners of a hub. It has no tools of its own.

use std::env::var;

tool_runtime::main!(
    remote = var("FLEET_HUB").unwrap_or("http://127.0.0.1:7750".into()),
    // All runners are ours: `read_only` of a tool is true.
    trust_runners = true,
);
