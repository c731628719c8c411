//! One tool, prompt or resource: its arguments, execution and result; the caller; the schedule of calls that touch the
//! same resources.

pub mod agent;
pub mod export;
pub mod peer;
pub mod prompt;
pub mod resource;
pub mod toolset;
pub mod transform;

pub(crate) mod access;
pub(crate) mod action;
pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod client_tools;
pub(crate) mod completion;
pub(crate) mod constraint;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod input;
#[cfg(feature = "isolation")]
pub(crate) mod isolation;
pub(crate) mod observation;
pub(crate) mod offering;
pub(crate) mod output;
pub(crate) mod output_check;
pub(crate) mod parameter;
pub(crate) mod registration;
pub(crate) mod repair;
pub(crate) mod schedule;
pub(crate) mod schemas;
#[cfg(feature = "redact")]
pub(crate) mod secrets;
pub(crate) mod source;
pub(crate) mod texts;
#[allow(clippy::module_inception)]
pub(crate) mod tool;
pub(crate) mod visual;

pub use access::{Access, KeyPart};
pub use action::Action;
pub use arguments::{Arguments, DecodeError};
pub use call::{ToolCall, ToolResult};
pub use client_tools::{ClientAnswerError, ClientCall, ClientTools};
pub use completion::{Complete, Completion, CompletionContext};
pub use context::{Execution, SessionId, StepId, ToolContext};
pub use definition::{TaskSupport, ToolDefinition};
pub use observation::{IntoObservation, Json, Observation};
pub use offering::{OfferingBuilder, TextHandler};
pub use registration::Registration;
pub use repair::{Repair, RepairKind};
#[cfg(feature = "redact")]
pub use secrets::{SecretTemplate, Secrets, UnknownSecret};
pub use source::Source;
pub use texts::TextArguments;
pub use tool::{Executor, Handler, Requirement, RequirementState, Tool, ToolBuilder};
