//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::caller::Caller;
#[cfg(feature = "http")]
pub use crate::http::{
    Reason, bearer, bind, check_address, is_local_address, serve as serve_http, serve_router,
};
pub use crate::listing::offered_beside_tools;
