//! Random ids.

use tool_runtime_core::seam::hex;
use tool_runtime_core::tool::StepId;

/// `2 * N` random hexadecimal digits.
///
/// # Panics
/// The operating system gives no random numbers.
pub(crate) fn hex_digits<const N: usize>() -> String {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
    hex(&bytes)
}

/// The id of a call that is not a step of an execution.
pub(crate) fn step() -> StepId {
    StepId::new(hex_digits::<16>())
}
