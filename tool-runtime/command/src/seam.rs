//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

/// Headings of commands in the help of a program.
pub const GOVERNANCE: &str = "Governance";
pub const SERVERS: &str = "Servers";
pub const SETUP: &str = "Setup";

pub use crate::output::{CommandFailure, run_printing};
pub use crate::pool::Commands;
