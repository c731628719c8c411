//! Ids that cannot be guessed.

use std::hash::{BuildHasher as _, RandomState};

/// Hexadecimal digits, at most 32. The seeds of [`RandomState`] come from the operating system.
pub(crate) fn hex(count: usize) -> String {
    let [first, second] = [0, 1].map(|word| RandomState::new().hash_one(word));
    let mut digits = format!("{first:016x}{second:016x}");
    digits.truncate(count);
    digits
}
