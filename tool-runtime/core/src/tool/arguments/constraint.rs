//! `range`, `length`, `pattern` and `format` of an argument. Each is one value, from which
//! both the schema and the check of a decoded argument are taken.

mod number;
mod size;
mod text;

#[cfg(test)]
mod tests;

pub use number::{Range, range};
pub use size::{Length, length};
pub use text::{Format, Pattern, format, pattern};

use crate::tool::arguments::{DecodeError, DecodeFailure};
use schemars::Schema;

/// A constraint of an argument beyond its type.
///
/// The constraints carry the needed operation of the type as a function, and implement this for every
/// type: a type that cannot have a constraint is reported once, where the constraint is created.
pub trait Constraint<T> {
    /// Writes the constraint into the argument's schema.
    fn describe(&self, schema: &mut Schema);

    /// Whether a value satisfies it; an absent optional value always does.
    fn admits(&self, value: &T) -> bool;
}

impl<T, C: Constraint<T>> Constraint<T> for &C {
    fn describe(&self, schema: &mut Schema) {
        C::describe(self, schema);
    }

    fn admits(&self, value: &T) -> bool {
        C::admits(self, value)
    }
}

/// Rejects a decoded argument that violates a constraint. The schema's walker then writes the message.
///
/// # Errors
/// The value does not satisfy the constraint.
pub fn ensure<T, C: Constraint<T>>(
    constraint: C,
    value: &T,
    parameter: usize,
) -> Result<(), DecodeError> {
    if constraint.admits(value) {
        return Ok(());
    }
    Err(DecodeError::new(DecodeFailure::Constraint(parameter)))
}
