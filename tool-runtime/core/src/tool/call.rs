//! A call by name and its result, as JSON and as people see it.

mod tool_call;
mod tool_result;
pub(crate) mod visual;
mod wire;

pub use tool_call::ToolCall;
pub use tool_result::ToolResult;
