//! Checks a JSON value against a JSON Schema (2020-12) and says what is wrong in words that a model can act on.
//!
//! Decoding is the first check of a call; this walker runs when decoding failed, or when the schema holds assertions
//! that decoding does not make. It knows the validation and applicator keywords and references within the document.
//! It differs from the standard where tools do: a property that is not required may be null, `1.0` is not an integer (serde
//! does not decode it as one), and `format` is asserted. Annotations, unknown keywords, references that lead nowhere
//! and patterns that do not compile are ignored.

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

pub(crate) use self::assertions::asserts_more_than_types;
pub use self::entry::check;
pub(crate) use self::entry::{check_params, check_result};
pub(crate) use self::fields::{fields_at, holds_secrets, is_tuple, plain_names_at, unknown_field};
pub(crate) use self::findings::MAX_ISSUES;
pub(crate) use self::wording::cut;
