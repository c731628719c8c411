//! Completion of the arguments of prompts and resources while a user types them.

#[doc(inline)]
pub use tool_runtime_core::tool::{Complete, Completion, CompletionContext};
