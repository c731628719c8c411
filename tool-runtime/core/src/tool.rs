//! One tool, prompt or resource: its arguments, execution and result; the caller; the schedule of calls that touch the
//! same resources.
//!
//! | Module | Topic |
//! |---|---|
//! | `tool` | a tool: its definition, executor and registration; tools made from others |
//! | [`toolset`] | stateful tools: methods that share one value |
//! | `offering` | prompts and resources |
//! | `call` | a call by name and its result, as JSON and as people see it |
//! | `arguments` | text, decoding, schemas and checks of arguments |
//! | `context` | what a running call reaches: state, session, execution, secrets |
//! | `concurrency` | resources that a call touches, the schedule, code that blocks its thread |
//! | `results` | return values, observations, the check of the output |
//! | [`peer`] | the caller: progress, log entries, questions |
//! | [`agent`] | runs of agents, and tools that start agents |
//! | [`export`] | the seam to the formats of model APIs |

pub mod agent;
pub mod export;
pub mod peer;
pub mod toolset;

pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod concurrency;
pub(crate) mod context;
pub(crate) mod offering;
pub(crate) mod results;
#[allow(clippy::module_inception)]
pub(crate) mod tool;

pub use arguments::repair::{Repair, RepairKind};
pub use arguments::{Arguments, DecodeError};
pub use call::{ToolCall, ToolResult};
pub use concurrency::access::{Access, KeyPart};
#[cfg(feature = "redact")]
pub use context::secrets::{SecretTemplate, Secrets, UnknownSecret};
pub use context::{Execution, SessionId, StepId, ToolContext};
pub use offering::completion::{Complete, Completion, CompletionContext};
pub use offering::text_arguments::TextArguments;
pub use offering::{OfferingBuilder, TextHandler, prompt, resource};
pub use results::observation::{IntoObservation, Json, Observation};
pub use tool::action::Action;
pub use tool::client_tools::{ClientAnswerError, ClientCall, ClientTools};
pub use tool::definition::{TaskSupport, ToolDefinition};
pub use tool::registration::Registration;
pub use tool::source::Source;
pub use tool::{Executor, Handler, Requirement, RequirementState, Tool, ToolBuilder, transform};
