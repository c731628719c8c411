//! Tools of several invariants.

use tool_runtime::prelude::*;

/// Add two integers.
#[tool]
pub(crate) async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
) -> i64 {
    a.saturating_add(b.unwrap_or(1))
}
