//! Plain calls from JSON text to JSON text, without rmcp's service loop and its types. A call is plain if rmcp
//! has nothing to check: all other calls are passed to rmcp, which also writes their errors.

mod answer;
mod call;
mod meta;

pub(crate) use answer::Answer;
#[cfg(feature = "http")]
pub(crate) use answer::to_json;
pub(crate) use call::{PlainCall, RawCall};
pub(crate) use meta::{Meta, MetaCache};
