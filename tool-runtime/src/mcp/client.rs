//! External MCP servers, whose tools become tools of a pool.

#[expect(dead_code, unused_imports, reason = "children will use it")]
mod process;
