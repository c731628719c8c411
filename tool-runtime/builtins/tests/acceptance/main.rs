//! The list of what built-in tools must do: a module for each topic, a test for each line of its list. The other tests
//! go into the details.

#![cfg(all(feature = "files", feature = "search", feature = "shell", target_os = "linux"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod edit;
mod glob;
mod grep;
mod hints;
#[path = "../../src/shell/tests/out_of_time.rs"]
mod out_of_time;
mod read;
mod sandbox;
mod shell;
mod support;
#[path = "../../src/test_time.rs"]
#[allow(dead_code, reason = "unit tests need more of it")]
mod test_time;
mod tool_search;
