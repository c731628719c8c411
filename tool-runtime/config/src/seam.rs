//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with
//! every version.

pub use crate::header::OWN as OWN_HEADERS;
pub use crate::literals::may_be_secret;
pub use crate::lookup::{LookupError, find as find_program};
pub use crate::read::Expanded;
