//! All cases.

mod contents;
mod escapes;
mod failures;
mod kinds;

use crate::case::Case;

/// All cases, in the order of the table.
pub fn cases() -> Vec<Case> {
    [escapes::cases(), contents::cases(), kinds::cases(), failures::cases()]
        .into_iter()
        .flatten()
        .collect()
}
