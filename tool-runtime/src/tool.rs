//! One tool: its definition, its arguments, its execution and its result; the context of a call.
//!
//! Attributes make tools of functions: [`#[tool]`](macro@crate::tool). [`Tool::builder`] makes one of a closure.

#[doc(inline)]
pub use tool_runtime_core::tool::{
    Access, Action, Arguments, ClientAnswerError, ClientCall, ClientTools, DecodeError, Execution,
    Executor, Handler, IntoObservation, Json, KeyPart, Observation, OfferingBuilder, Registration,
    Repair, RepairKind, Requirement, RequirementState, SessionId, StepId, TaskSupport,
    TextArguments, TextHandler, Tool, ToolBuilder, ToolCall, ToolContext, ToolDefinition,
    ToolResult,
};
#[doc(inline)]
pub use tool_runtime_core::vocabulary::{RetryMode, ToolAnnotations, Usage};
