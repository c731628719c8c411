//! Checks a JSON value against a JSON Schema (2020-12) and describes every mistake so that a model can correct it.
//!
//! Decoding is the first check of a call. This walker runs when decoding failed, or when the schema asserts more than
//! decoding enforces. It differs from the standard where tools do: a property that is not required may be null, `1.0` is
//! not an integer (serde does not decode it as one), and `format` is asserted. Annotations, unknown keywords, references
//! to other documents and invalid patterns are ignored. A few keywords are not checked; a tool whose schema uses one of
//! them is refused when it is made ([`unchecked`]).

mod array;
mod assertions;
mod combine;
mod describe;
mod entry;
mod equal;
mod explain;
mod fields;
mod findings;
mod kind;
mod literal;
mod names;
mod number;
mod object;
mod parts;
mod place;
mod received;
mod reference;
mod secrets;
mod survey;
mod text;
mod type_keyword;
mod unevaluated;
mod union;
mod unknown;
mod variants;
mod walk;
mod wording;

#[cfg(test)]
mod tests;

pub(crate) use self::assertions::{asserts_more_than_types, unchecked};
pub use self::entry::check;
pub(crate) use self::entry::{check_params, check_result};
pub(crate) use self::fields::{fields_at, holds_secrets, unknown_field};
pub(crate) use self::findings::MAX_ISSUES;
pub(crate) use self::wording::cut;
