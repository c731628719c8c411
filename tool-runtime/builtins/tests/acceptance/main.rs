//! The list of what built-in tools must do: a module for each topic, a test for each line of its list. The other tests
//! go into the details.

#![cfg(all(feature = "files", feature = "search", feature = "shell", target_os = "linux"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod edit;
mod glob;
mod grep;
mod hints;
mod read;
mod sandbox;
mod shell;
mod support;
mod tool_search;
