//! The result of a tool: return values, what becomes of them, and its check against the output schema.

pub(crate) mod observation;
pub(crate) mod output;
pub(crate) mod output_check;
