//! The same cases for MCP servers of files: `toolbox` of this repository, the reference server
//! `@modelcontextprotocol/server-filesystem` of npm, and the crate `rust-mcp-filesystem`.
//!
//! `cargo run -p file-servers` installs the others below `target/tmp`, once, and prints a table in Markdown. It needs npm and
//! Node.js. A test of `toolbox` requires that it keeps every case.
//!
//! | Module | Topic |
//! |---|---|
//! | `server` | how a server is installed and started |
//! | `connection` | reading, writing and editing, in the words of each server |
//! | `case` | one case and its outcome |
//! | `cases` | escapes, contents, properties of files, large files, races and failures |

#![cfg(target_os = "linux")]

mod case;
mod cases;
mod connection;
mod server;

pub use case::{Case, Outcome};
pub use cases::cases;
pub use server::Server;
