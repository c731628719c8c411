//! Ids as hex digits.

use sha2::{Digest as _, Sha256};
use tool_runtime_core::seam::hex;

/// The number of bytes of an id.
const LENGTH: usize = 16;

/// The digest of several strings, each preceded by its length.
pub(crate) fn from_parts(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    hex(&digest.finalize()[..LENGTH])
}

/// An id that cannot be guessed.
pub(crate) fn random() -> String {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    hex(&bytes)
}

/// Whether a string has the form of an id.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 2 * LENGTH && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
