//! Registers a server with MCP clients, and packs it for them: `install`, `uninstall` and `bundle` of the generated command
//! line. Users depend on
//! `tool-runtime` with the feature `install`.

mod bundle;
mod client;
mod command_line;
mod document;
mod entry;
mod file;
mod folders;
mod install;
mod json;
mod list;
mod manifest;
mod package;
mod registered;
mod server_json;
mod snippet;
mod state;
mod toml;
mod uninstall;

pub use bundle::Bundle;
pub use install::Install;
pub use package::Package;
pub use registered::{Registered, is_this_program, registered};
pub use uninstall::Uninstall;
