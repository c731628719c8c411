//! External MCP servers, whose tools become tools of a pool.

#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "connections over stdio will use it")
)]
mod process;
