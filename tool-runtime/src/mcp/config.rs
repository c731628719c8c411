//! The standard `mcpServers` configuration.
