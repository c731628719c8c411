//! The words of a program that adds the tools of runners to a pool, for the command line.

use crate::board::Board;
use crate::caller::{Remote, RemoteBuilder};
use crate::runner::Runner;
use std::sync::Arc;
use tool_runtime_core::pool::AbsentSource;
use tool_runtime_core::tool::Source;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// A runner of a board of any kind.
pub fn runner(board: Arc<dyn Board>) -> Runner {
    Runner::from_board(board)
}

/// Settings for a board of any kind.
pub fn remote(board: Arc<dyn Board>) -> RemoteBuilder {
    Remote::builder_of(board)
}

/// The runners of all queues, whose tools are missing, for the report of a pool.
pub fn missing_runners(reason: impl Into<String>) -> AbsentSource {
    AbsentSource::new(Source::runner("*"), reason)
}

/// The error of a call of a tool that may be one of runners, while their tools are missing.
pub fn no_remote_tool(name: &str, class: ErrorClass, reason: &str) -> CallError {
    let text =
        format!("`{name}` is not there, and the tools of remote runners are missing: {reason}");
    CallError::new(class, text)
}
