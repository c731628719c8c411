//! Helpers that the tests in `tests/suite` share, and a check that needs a doctest: a caller of the 2021
//! edition, in which `gen` is an ordinary name.
//!
//! ```edition2021
//! use tool_runtime::prelude::*;
//!
//! /// Make some.
//! #[tool(register = false)]
//! async fn make(
//!     /// The maximum number of results.
//!     gen: u32,
//! ) -> u32 {
//!     gen
//! }
//!
//! assert!(MakeAction::definition().argument("gen").is_some());
//! ```

pub mod built;
pub mod http_server;
pub mod limit;
pub mod peers;
pub mod process;
