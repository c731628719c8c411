//! Items for the code of `main!`. Not for users: they change with every version.

pub use crate::main_macro::{
    Setup, SetupError, SetupFuture, SetupResult, check_main, main, pool, ready,
};
pub use crate::package::Package;
pub use std::string::String;
pub use tool_macros::{check_main_options, wrong_main_options};
pub use tool_runtime_core::pool::ToolPool;
