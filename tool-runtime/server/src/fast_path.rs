//! Plain calls from text to text, without rmcp's service loop and the types that it parses and
//! writes. Whatever is unusual about a request is rmcp's: it judges versions, headers and metadata,
//! and says what is wrong with them.

mod answer;
mod envelope;
mod meta;
mod plain_call;

pub(crate) use answer::Answer;
#[cfg(feature = "http")]
pub(crate) use answer::written;
pub(crate) use envelope::Envelope;
pub(crate) use meta::{Meta, MetaCache};
pub(crate) use plain_call::PlainCall;
