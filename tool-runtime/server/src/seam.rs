//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::caller::Caller;
#[cfg(feature = "http")]
pub use crate::http::{
    bearer, bind, check_address, serve as serve_http, serve_router, with_reason,
};
pub use crate::listing::offered_beside_tools;
