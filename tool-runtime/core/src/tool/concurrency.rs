//! Calls at the same time: what they touch, their order, and code that blocks its thread.

pub(crate) mod access;
#[cfg(feature = "isolation")]
pub(crate) mod isolation;
pub(crate) mod schedule;
