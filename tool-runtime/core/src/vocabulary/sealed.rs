//! Seals helper traits: users call functions that take their implementations, and cannot write one.

/// A type without a public name. A trait that requires it, as a parameter or as the type of a constant, can only be
/// implemented in this crate, so its hidden methods may change.
#[derive(Clone, Copy, Debug)]
pub struct Sealed;
