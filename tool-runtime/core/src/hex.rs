//! Hexadecimal digits.

use std::fmt::Write as _;

/// The bytes in lower-case hexadecimal digits, two each.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("writing to a string succeeds");
    }
    digits
}
