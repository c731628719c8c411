//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::output::{CommandFailure, run_printing};
pub use crate::pool::Commands;
