//! The tests are in `tests/suite`. Here is what they share, and what neither they nor those of the
//! package `ui` can say: a caller of the 2021 edition, in which `gen` is a name like any other.
//!
//! ```edition2021
//! use tool_runtime::prelude::*;
//!
//! /// Make some.
//! #[tool(register = false)]
//! async fn make(
//!     /// How many.
//!     gen: u32,
//! ) -> u32 {
//!     gen
//! }
//!
//! assert!(MakeAction::definition().argument("gen").is_some());
//! ```

pub mod built;
pub mod limit;
pub mod peers;
pub mod process;
pub mod served;
