//! The arguments of a call: their text, decoding, schema and checks, and what a model is told about mistakes.
//!
//! | Module | Topic |
//! |---|---|
//! | `json_text`, `decode_error` | arguments as JSON text; the reason why they did not decode |
//! | `reader`, `tracked` | decode them key by key, or with serde, and notice what serde ignores |
//! | `parameter`, `schemas` | the table of parameters that `#[tool]` generates; the schemas made from it and from types |
//! | `constraint` | `range`, `length`, `pattern` and `format` of a parameter |
//! | `input`, `probe` | find every mistake after decoding failed; the keys that a type reads |
//! | `repair` | corrections that have one interpretation |
//! | `effective`, `members` | the arguments as policies see them; the members of an object as text |

pub(crate) mod constraint;
mod decode_error;
mod effective;
pub(crate) mod input;
mod json_text;
mod members;
pub(crate) mod parameter;
pub(crate) mod probe;
mod reader;
pub(crate) mod repair;
pub(crate) mod schemas;
mod tracked;

pub use decode_error::DecodeError;
pub(crate) use decode_error::DecodeFailure;
pub use effective::{EffectiveArgument, EffectiveArguments};
pub use json_text::Arguments;
pub use members::{RawMembers, push_member};
pub(crate) use reader::absent;
pub use reader::{ArgumentReader, Key, required};
