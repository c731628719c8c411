//! Plain calls from text to text, without rmcp's service loop and its types. A call is plain if rmcp
//! has nothing to check: everything unusual goes to rmcp, which also words the errors.

mod answer;
mod call;
mod meta;

pub(crate) use answer::Answer;
#[cfg(feature = "http")]
pub(crate) use answer::to_json;
pub(crate) use call::{PlainCall, RawCall};
pub(crate) use meta::{Meta, MetaCache};
