//! The causes of an error.

use std::error::Error;
use std::iter::successors;

/// Limit on the causes of an error, which could be its own cause.
const MAX_CAUSES: usize = 32;

/// An error and its causes.
pub(super) fn chain<'a>(
    first: Option<&'a (dyn Error + 'static)>,
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(first, |error| (*error).source()).take(MAX_CAUSES)
}

/// An error with all its causes.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    chain(Some(error)).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
