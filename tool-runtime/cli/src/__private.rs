//! Items for the code of `main!`. Not for users: they change with every version.

pub use crate::main_macro::{Setup, SetupFuture, SetupResult, main, pool, ready};
pub use std::string::String;
pub use tool_macros::unknown_main_option;
pub use tool_runtime_core::ToolPool;
