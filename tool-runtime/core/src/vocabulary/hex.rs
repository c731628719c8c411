//! Hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The bytes in lower-case hexadecimal digits, two each.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            digits.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    digits
}
