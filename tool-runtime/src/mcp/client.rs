//! External MCP servers, whose tools become tools of a pool.
