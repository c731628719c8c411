//! Errors of calls: a class, a text for the model, a detail for the operator.

mod call_error;
mod class;
mod debug;
mod excerpt;
mod panic;
mod protocol;
mod tool_error;

pub use call_error::CallError;
pub use class::ErrorClass;
pub use debug::write_error;
pub use excerpt::excerpt;
pub use excerpt::excerpt_of;
pub(crate) use panic::{caught, reported};
pub use panic::{panic_is_reported, panic_message};
pub use protocol::ProtocolError;
pub use tool_error::INTERNAL;
pub use tool_error::ToolError;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Problems, each on a separate line after a heading.
pub(crate) fn list(problems: &[impl std::fmt::Display]) -> String {
    problems.iter().map(|problem| format!("\n- {problem}")).collect()
}
