//! Ids that cannot be guessed.

use tool_runtime::__seam;

/// Random hexadecimal digits, at most 32.
///
/// # Panics
/// The operating system gives no random bytes.
pub(crate) fn hex(count: usize) -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    let mut digits = __seam::hex(&bytes);
    digits.truncate(count);
    digits
}
