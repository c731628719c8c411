//! Errors of calls: a class, a message for the model, a detail for the operator.

mod call_error;
pub(crate) mod causes;
mod class;
pub(crate) mod debug;
pub(crate) mod excerpt;
mod issue;
pub(crate) mod panic;
mod protocol;
pub(crate) mod tool_error;

pub use call_error::CallError;
pub use class::ErrorClass;
pub(crate) use debug::write_error;
pub(crate) use excerpt::excerpt;
pub use issue::Issue;
pub(crate) use panic::{caught, panic_message, reported};
pub use protocol::ProtocolError;
pub(crate) use tool_error::INTERNAL;
pub use tool_error::ToolError;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Problems, each on a separate line after a heading.
pub(crate) fn list(problems: &[impl std::fmt::Display]) -> String {
    problems.iter().map(|problem| format!("\n- {problem}")).collect()
}
